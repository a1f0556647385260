#include "driver/compat/statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/compat/python_text.h"

namespace hespas::driver::compat {
namespace {

DatatypeStatistics& Datatype(std::vector<DatatypeStatistics>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& d) { return d.name == name; });
  if (found != list.end()) return *found;
  return list.emplace_back(DatatypeStatistics{.name = name});
}

void AddTo(DatatypeStatistics& to, int64_t flops, double seconds, double compute_seconds) {
  to.flops += flops;
  to.seconds += seconds;
  to.compute_seconds += compute_seconds;
}

void AddTo(OpStatistics& to, const OpStatistics& from) {
  to.seconds += from.seconds;
  to.count += from.count;
  to.flops += from.flops;
  to.bytes += from.bytes;
  for (const DatatypeStatistics& d : from.datatypes)
    AddTo(Datatype(to.datatypes, d.name), d.flops, d.seconds, d.compute_seconds);
}

double Ratio(double a, double b) { return b == 0 ? 0.0 : a / b; }

// Writes JSON with an indent of four, as json.dump(indent=4).
class JsonWriter {
 public:
  void Open(char bracket) {
    out_ += bracket;
    first_ = true;
    ++depth_;
  }
  void Close(char bracket) {
    --depth_;
    if (!first_) NewLine();
    out_ += bracket;
    first_ = false;
  }
  void Key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    NewLine();
    out_ += JsonString(name);
    out_ += ": ";
  }
  void Field(std::string_view name, double value) {
    Key(name);
    out_ += Repr(value);
  }
  void Field(std::string_view name, int64_t value) {
    Key(name);
    out_ += fmt::format("{}", value);
  }
  void Null(std::string_view name) {
    Key(name);
    out_ += "null";
  }
  std::string Take() { return std::move(out_); }

 private:
  void NewLine() {
    out_ += '\n';
    out_.append(static_cast<size_t>(depth_) * 4, ' ');
  }

  std::string out_;
  int depth_ = 0;
  bool first_ = true;
};

void WriteDatatypes(JsonWriter& json, const std::vector<DatatypeStatistics>& list, bool evaluated) {
  json.Key("per_datatype");
  json.Open('{');
  for (const DatatypeStatistics& d : list) {
    json.Key(d.name);
    json.Open('{');
    json.Field("flops", d.flops);
    json.Field("runtime", d.seconds);
    if (evaluated) {
      json.Field("flops_util", d.utilisation);
    } else {
      json.Null("flops_util");
    }
    json.Close('}');
  }
  json.Close('}');
}

// From `flops` to the averages (and energy): the same keys for a module and the whole.
void WriteWork(JsonWriter& json, const Totals& totals, bool energy) {
  json.Field("flops", totals.flops);
  WriteDatatypes(json, totals.datatypes, true);
  json.Field("mem_bytes", totals.bytes);
  json.Field("flops_util", totals.utilisation.flops);
  json.Field("mem_bw_util", totals.utilisation.bandwidth);
  json.Field("avg_flopss", totals.utilisation.average_flops);
  json.Field("avg_mem_bw", totals.utilisation.average_bandwidth);
  if (energy) json.Field("total_energy", totals.energy);
}

void WriteModule(JsonWriter& json, const Totals& totals, bool energy) {
  json.Open('{');
  json.Field("runtime", totals.seconds);
  json.Field("estimation_time", totals.estimation_seconds);
  json.Field("uncached_time", totals.uncached_seconds);
  WriteWork(json, totals, energy);
  json.Key("per_op");
  json.Open('{');
  for (const OpStatistics& op : totals.ops) {
    json.Key(op.name);
    json.Open('{');
    json.Field("runtime", op.seconds);
    json.Field("count", op.count);
    json.Field("flops", op.flops);
    json.Field("mem_bytes", op.bytes);
    WriteDatatypes(json, op.datatypes, false);
    json.Close('}');
  }
  json.Close('}');
  json.Close('}');
}

}  // namespace

double Statistics::RateOf(const std::string& datatype) const {
  for (const auto& [name, rate] : rates_.per_datatype_flops) {
    if (name == datatype) return rate;
  }
  return rates_.peak_flops;
}

double Statistics::Power(const Utilisation& u) const {
  const double r = rates_.hbm_power_ratio;
  return std::min(rates_.tdp_w, u.flops * rates_.tdp_w * (1 - r) + u.bandwidth * rates_.tdp_w * r);
}

void Statistics::Evaluate(Totals& totals) const {
  double weighted = 0;
  for (DatatypeStatistics& d : totals.datatypes) {
    d.utilisation = compat_ ? Ratio(Ratio(static_cast<double>(d.flops), d.seconds), RateOf(d.name))
                            : Ratio(d.compute_seconds, d.seconds);
    weighted += d.utilisation * d.seconds;
  }
  totals.utilisation.flops = Ratio(weighted, totals.seconds);
  totals.utilisation.average_flops = Ratio(static_cast<double>(totals.flops), totals.seconds);
  totals.utilisation.average_bandwidth = Ratio(static_cast<double>(totals.bytes), totals.seconds);
  totals.utilisation.bandwidth = Ratio(totals.utilisation.average_bandwidth, rates_.memory_bandwidth);
}

size_t Statistics::AddModule(std::string file, const std::vector<OpRecord>& ops, size_t expanded_ops,
                             double wall_seconds) {
  Totals totals;
  for (const OpRecord& op : ops) {
    totals.seconds += op.seconds;
    totals.flops += op.flops;
    totals.bytes += op.bytes;
    auto at = std::find_if(totals.ops.begin(), totals.ops.end(), [&](const auto& s) { return s.name == op.name; });
    if (at == totals.ops.end()) at = totals.ops.insert(totals.ops.end(), OpStatistics{.name = op.name});
    at->seconds += op.seconds;
    at->count += 1;
    at->flops += op.flops;
    at->bytes += op.bytes;
    AddTo(Datatype(at->datatypes, op.datatype), op.flops, op.seconds, op.compute_seconds);
  }
  for (const OpStatistics& op : totals.ops) {
    for (const DatatypeStatistics& d : op.datatypes)
      AddTo(Datatype(totals.datatypes, d.name), d.flops, d.seconds, d.compute_seconds);
  }
  return Add(std::move(file), std::move(totals), expanded_ops, wall_seconds);
}

size_t Statistics::AddWholeModule(std::string file, double seconds, size_t expanded_ops, double wall_seconds) {
  whole_modules_ = true;
  return Add(std::move(file), Totals{.seconds = seconds}, expanded_ops, wall_seconds);
}

size_t Statistics::Add(std::string file, Totals totals, size_t expanded_ops, double wall_seconds) {
  Evaluate(totals);
  totals.energy = Power(totals.utilisation) * totals.seconds;
  totals.uncached_seconds = wall_seconds;
  totals.estimation_seconds = wall_seconds;
  const size_t index = modules_.size();
  modules_.push_back({std::move(file), index, std::move(totals)});
  Account(modules_.back().totals, expanded_ops);
  return index;
}

void Statistics::CountHit(size_t expanded_ops) {
  ++hits_;
  hit_ops_ += static_cast<int64_t>(expanded_ops);
}

void Statistics::AddHit(std::string file, size_t original, size_t expanded_ops) {
  modules_.push_back({std::move(file), original, {}});
  CountHit(expanded_ops);
  Account(modules_[original].totals, expanded_ops);
}

void Statistics::Account(const Totals& module, size_t expanded_ops) {
  ops_processed_ += static_cast<int64_t>(expanded_ops);
  root_.seconds += module.seconds;
  root_.flops += module.flops;
  root_.bytes += module.bytes;
  root_.uncached_seconds += module.uncached_seconds;
  root_.energy += module.energy;
  last_seconds_ = module.seconds;
  for (const DatatypeStatistics& d : module.datatypes)
    AddTo(Datatype(root_.datatypes, d.name), d.flops, d.seconds, d.compute_seconds);
  for (const OpStatistics& op : module.ops) {
    const auto [found, is_new] = op_index_.try_emplace(op.name, root_.ops.size());
    if (is_new) root_.ops.push_back({.name = op.name});
    AddTo(root_.ops[found->second], op);
  }
}

void Statistics::Finish(double estimation_seconds) {
  root_.estimation_seconds = estimation_seconds;
  Evaluate(root_);
  if (compat_) root_.energy = Power(root_.utilisation) * last_seconds_;
}

std::string Statistics::ToJson() const {
  JsonWriter json;
  json.Open('{');
  json.Field("estimation_time", root_.estimation_seconds);
  json.Field("uncached_time", root_.uncached_seconds);
  json.Field("runtime", root_.seconds);
  json.Field("modules_processed", static_cast<int64_t>(modules_.size()));
  json.Field("operators_processed", ops_processed_);
  json.Key("per_module");
  json.Open('{');
  for (const Module& module : modules_) {
    json.Key(module.file);
    WriteModule(json, modules_[module.original].totals, rates_.energy());
  }
  json.Close('}');
  WriteWork(json, root_, rates_.energy());
  if (hits_ > 0) {
    json.Field("cache_hits", hits_);
    json.Field("cache_hit_prop", Ratio(static_cast<double>(hits_), static_cast<double>(modules_.size())));
    json.Field("cache_op_hits", hit_ops_);
    json.Field("cache_op_hit_prop", Ratio(static_cast<double>(hit_ops_), static_cast<double>(ops_processed_)));
  }
  json.Close('}');
  return json.Take();
}

void Statistics::LogSummary(const Log& log) const {
  const auto blocks = static_cast<double>(modules_.size());
  if (hits_ > 0) {
    log.Results(fmt::format("Cache hits: {}", hits_));
    log.Results(fmt::format("Basic block reuse rate: {} ({}/{})", RoundedRepr(static_cast<double>(hits_) / blocks),
                            hits_, modules_.size()));
    log.Results(fmt::format("Operator reuse factor: {} ({}/{})",
                            RoundedRepr(Ratio(static_cast<double>(hit_ops_), static_cast<double>(ops_processed_))),
                            hit_ops_, ops_processed_));
    log.Results(fmt::format(
        "Total estimator time taken vs cached time: {} s vs total time (without caching): {} s ({} % reduction)",
        RoundedRepr(root_.estimation_seconds), RoundedRepr(root_.uncached_seconds),
        RoundedRepr(100 * (1 - Ratio(root_.estimation_seconds, root_.uncached_seconds)))));
  }
  if (!whole_modules_) LogWork(log);
  log.Results(fmt::format("Compute Runtime Estimation: {} us", RoundedRepr(root_.seconds * 1e6)));
  if (!whole_modules_) LogProportions(log);
}

void Statistics::LogWork(const Log& log) const {
  log.Results("FLOPS/s utilisation: " + RoundedRepr(root_.utilisation.flops));
  log.Results("Memory bandwidth utilisation: " + RoundedRepr(root_.utilisation.bandwidth));
  log.Results("Average FLOPS/s: " + WithPrefix(root_.utilisation.average_flops, "FLOPS/s"));
  if (rates_.energy()) log.Results(fmt::format("Total energy: {} J", RoundedRepr(root_.energy)));
  log.Results("Average Memory Bandwidth: " + WithPrefix(root_.utilisation.average_bandwidth, "B/s"));
}

void Statistics::LogProportions(const Log& log) const {
  log.Results("Op time proportions:");
  std::vector<const OpStatistics*> ops;
  size_t widest = 0;
  for (const OpStatistics& op : root_.ops) {
    ops.push_back(&op);
    widest = std::max(widest, op.name.size());
  }
  std::stable_sort(ops.begin(), ops.end(), [&](const auto* a, const auto* b) {
    return Ratio(a->seconds, root_.seconds) > Ratio(b->seconds, root_.seconds);
  });
  for (const OpStatistics* op : ops) {
    log.Results(
        fmt::format("    {:<{}} {}", op->name + ":", widest + 1, RoundedRepr(Ratio(op->seconds, root_.seconds))));
  }
}

}  // namespace hespas::driver::compat
