#include "report/text/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "ir/facts/fusion.h"
#include "report/step/breakdown.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/text/collectives.h"
#include "report/text/table.h"

namespace hespas::report {
namespace {

using graph::Estimate;

std::string Rate(double value, std::string_view unit) {
  const std::string text =
      unit == "B/s" ? HumanBytes(Bytes(static_cast<int64_t>(value))) : HumanFlops(Flops(static_cast<int64_t>(value)));
  return text + "/s";
}

// Where a figure of the device comes from: an option that changed it, the file's note, or the file.
std::string SourceOf(const ExplainContext& context, std::string_view key, std::string_view figure) {
  for (const std::string& change : context.changes) {
    if (change.starts_with(key)) return "option --set " + change;
  }
  const std::string_view noted = context.device.SourceOf(figure);
  return noted.empty() ? "device file " + context.device.origin : fmt::format("datasheet: {}", noted);
}

std::string Datatype(const ir::Module& module, ir::OpId op) {
  for (const ir::ValueId value : module.operands(op)) {
    const ir::Type& type = module.type(value);
    if (type.is_tensor()) return ir::ElementText(type.element);
  }
  return "f32";
}

// How an estimator combines the terms.
std::string_view CombinationOf(std::string_view estimator) {
  if (estimator == "roofline") return "the larger of the terms";
  if (estimator == "calibrated") return "launch + soft maximum of the other terms";
  return "as the estimator combines them";
}

class BlockExplainer {
 public:
  BlockExplainer(const ExplainContext& context, graph::BlockId id)
      : context_(context),
        block_(context.step.blocks.blocks[id.index()]),
        module_(*context.step.blocks.module),
        estimate_(*context.step.estimates.Of(id)),
        op_(block_.ops.back()) {
    out_.title = fmt::format("block {}: {}", id.value, ContentName(module_, op_));
  }

  Explanation Explain() {
    AddFacts();
    AddOps();
    AddFormula();
    AddParameters();
    AddBounds();
    return std::move(out_);
  }

 private:
  void AddFacts() {
    const Location at = module_.location(op_);
    out_.facts = {{"kind", std::string(KindLabel(module_, op_))},
                  {"operations", std::to_string(block_.ops.size())},
                  {"shapes", Shapes(context_.step.blocks, block_)}};
    if (at.line > 0) out_.facts.emplace_back("where", fmt::format("{}:{}:{}", at.file, at.line, at.column));
    if (const auto name = FrameworkName(module_, op_); !name.empty()) out_.facts.emplace_back("name", name);
    out_.facts.emplace_back("time", fmt::format("{} ({} ps)", HumanTime(estimate_.time), estimate_.time.value));
    if (estimate_.sigma != Time()) out_.facts.emplace_back("uncertainty", "± " + HumanTime(estimate_.sigma));
  }

  // "stablehlo.add bf16[8,128], line 12": what the kernel computes, without constants.
  void AddOps() {
    for (const ir::OpId op : block_.ops) {
      const bool fusion = module_.kind(op) == ir::OpKind::kFusion;
      for (const ir::OpId inner : fusion ? ir::FusedOps(module_, op) : std::vector<ir::OpId>{op}) {
        if (module_.op(inner).result_count == 0 || ir::Traits(module_.kind(inner)).sort == ir::OpSort::kConstant)
          continue;
        const Location at = module_.location(inner);
        const std::string line = at.line > 0 ? fmt::format(", line {}", at.line) : "";
        out_.ops.push_back(fmt::format("{} {}{}", module_.name(inner),
                                       module_.types().Text(module_.type_id(module_.result(inner))), line));
      }
    }
  }

  void AddFormula() {
    out_.formula.push_back(fmt::format("time = {}", CombinationOf(estimate_.source)));
    for (const graph::Term& term : estimate_.terms) {
      out_.formula.push_back(fmt::format("  {} = {}{}", term.name, WithNumbers(term), HumanTime(term.time)));
    }
    out_.formula.push_back(fmt::format("     = {}", HumanTime(estimate_.time)));
  }

  // "38.7 GFLOP / 301 TFLOP/s = " for a term that is work over a rate.
  std::string WithNumbers(const graph::Term& term) const {
    if (term.time.value <= 0) return "";
    const double seconds = term.time.seconds();
    if (term.name == graph::kComputeTerm && estimate_.flops.value > 0) {
      const double rate = static_cast<double>(estimate_.flops.value) / seconds;
      return fmt::format("{} / {} = ", HumanFlops(estimate_.flops), Rate(rate, "FLOP/s"));
    }
    if (term.name == graph::kMemoryTerm && estimate_.bytes.value > 0) {
      const double rate = static_cast<double>(estimate_.bytes.value) / seconds;
      return fmt::format("{} / {} = ", HumanBytes(estimate_.bytes), Rate(rate, "B/s"));
    }
    return "";
  }

  void AddParameters() {
    const std::string type = Datatype(module_, op_);
    const std::string_view kind = KindLabel(module_, op_);
    const bool contraction = kind == "matmul" || kind == "convolution" || kind == "attention";
    const hardware::Device& device = context_.device;
    const double peak = (contraction ? device.MatrixRateFor(type) : device.VectorRateFor(type)).value;
    const std::string table = contraction && device.matrix_flops.contains(type)    ? "matrix_flops"
                              : !contraction && device.vector_flops.contains(type) ? "vector_flops"
                                                                                   : "per_datatype_flops";
    out_.parameters.push_back({fmt::format("peak rate of {}", type), Rate(peak, "FLOP/s"),
                               SourceOf(context_, "device.peak_flops", table + "." + type)});
    if (contraction && type == "f32" && device.Knows("tf32")) {
      out_.parameters.push_back({"peak rate of tf32, at default precision",
                                 Rate(device.MatrixRateFor("tf32").value, "FLOP/s"),
                                 SourceOf(context_, "device.peak_flops", "per_datatype_flops.tf32")});
    }
    out_.parameters.push_back({"memory bandwidth", Rate(device.memory_bandwidth.value, "B/s"),
                               SourceOf(context_, "device.memory_bandwidth", "memory_bandwidth")});
    if (estimate_.source != "calibrated") return;
    const std::string_view family = kind == "convolution" ? "convolution." : contraction ? "gemm." : "elementwise.";
    for (const Parameter& constant : context_.calibration) {
      if (constant.name.starts_with(family) || constant.name.starts_with("stream."))
        out_.parameters.push_back(constant);
    }
  }

  void AddBounds() {
    if (estimate_.time == Time()) {
      out_.binds = "nothing: the block moves no data and computes nothing";
      return;
    }
    std::vector<graph::Term> terms = estimate_.terms;
    std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    out_.binds = fmt::format("{}", graph::BoundName(estimate_.bound));
    if (terms.empty()) return;
    out_.binds += fmt::format(": {} takes {}", terms[0].name, HumanTime(terms[0].time));
    if (terms.size() < 2 || terms[1].time == Time()) return;
    const double factor = static_cast<double>(terms[0].time.value) / static_cast<double>(terms[1].time.value);
    out_.next = fmt::format("{} with {}, {:.2f} times less", terms[1].name, HumanTime(terms[1].time), factor);
  }

  const ExplainContext& context_;
  const graph::Block& block_;
  const ir::Module& module_;
  const Estimate& estimate_;
  ir::OpId op_;
  Explanation out_;
};

std::vector<Parameter> LinkParameters(const hardware::System* system) {
  std::vector<Parameter> parameters;
  for (size_t d = 0; system != nullptr && d < system->dimensions.size(); ++d) {
    const hardware::NetworkDimension& dimension = system->dimensions[d];
    const std::string source = fmt::format("system {}", system->name);
    parameters.push_back({fmt::format("bandwidth of a link, dimension {}, {} NPUs", d, dimension.npus),
                          Rate(dimension.bandwidth * 1073741824.0, "B/s"), source});
    parameters.push_back({fmt::format("latency of a link, dimension {}, {} NPUs", d, dimension.npus),
                          HumanTime(Time::Seconds(dimension.latency * 1e-9)), source});
  }
  return parameters;
}

}  // namespace

Explanation ExplainBlock(const ExplainContext& context, graph::BlockId block) {
  if (context.step.estimates.Of(block) != nullptr) return BlockExplainer(context, block).Explain();
  const auto rows = CollectiveRows(context.step, context.system);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].block == block.value) return ExplainCollective(context, i);
  }
  Explanation out{.title = fmt::format("block {}", block.value)};
  out.binds = "nothing: no network was simulated for it, or it has a single member";
  return out;
}

Explanation ExplainCollective(const ExplainContext& context, size_t row) {
  const CollectiveRow entry = CollectiveRows(context.step, context.system)[row];
  const result::SimResult& simulated = *context.step.simulated;
  const result::CollectiveUse& use = *entry.use;
  const auto time = [&](uint64_t ticks) { return simulated.time(ticks); };
  const Time whole = time(use.end - use.start);
  const Time waited = time(use.waited);
  const Time transfer = whole - std::min(waited, whole);
  Explanation out{.title = fmt::format("collective {}: {}", row, entry.op)};
  out.facts = {{"block", std::to_string(entry.block)},
               {"members", std::to_string(use.members)},
               {"size", HumanBytes(Bytes(static_cast<int64_t>(use.bytes)))},
               {"model", use.model.empty() ? "the network backend" : use.model},
               {"algorithm", entry.algorithm.empty() ? "of the network" : entry.algorithm},
               {"levels", use.levels.empty() ? "of the network" : use.levels},
               {"time", fmt::format("{} ({} ps)", HumanTime(whole), whole.value)},
               {"exposed", HumanTime(time(use.exposed))},
               {"last member", fmt::format("rank {}", use.last_member)}};
  out.parameters = LinkParameters(context.system);
  const double wire = entry.bandwidth * transfer.seconds();
  out.formula = {"time = waiting for the last member + transfer", fmt::format("  waiting = {}", HumanTime(waited)),
                 fmt::format("  transfer = {}: {} leave a member", HumanTime(transfer),
                             HumanBytes(Bytes(static_cast<int64_t>(wire))))};
  if (!use.model.empty()) {
    out.formula.push_back(fmt::format("    = {} launch + {} latency of hops + {} on the wire + {} protocol",
                                      HumanTime(use.launch), HumanTime(use.latency), HumanTime(use.wire),
                                      HumanTime(use.ramp)));
  }
  out.formula.push_back(fmt::format("     = {}", HumanTime(whole)));
  const std::string bound = use.bound.empty() ? "the network backend" : use.bound;
  out.binds = waited > transfer ? fmt::format("waiting for rank {}", use.last_member) : bound;
  const bool latency = bound == "latency";
  out.next = waited > transfer ? "the transfer: " + bound
             : latency         ? fmt::format("bandwidth with {}", HumanTime(use.wire + use.ramp))
                               : fmt::format("latency with {}", HumanTime(use.launch + use.latency));
  return out;
}

std::string ToText(const Explanation& explanation) {
  std::string out = explanation.title + "\n\n";
  for (const auto& [name, value] : explanation.facts) out += fmt::format("{:<12}{}\n", name, value);
  if (explanation.ops.size() > 1) out += "\noperations\n";
  for (const std::string& op : explanation.ops) out += explanation.ops.size() > 1 ? "  " + op + "\n" : "";
  out += "\nformula\n";
  for (const std::string& line : explanation.formula) out += "  " + line + "\n";
  for (const auto& [name, rows] : {std::pair("factor", &explanation.factors), {"parameter", &explanation.parameters}}) {
    if (rows->empty()) continue;
    Table table{.columns = {{name}, {"value", Align::kRight}, {"source"}}, .rows = {}};
    for (const Parameter& p : *rows) table.rows.push_back({p.name, p.value, p.source});
    out += "\n" + ToText(table);
  }
  if (!explanation.binds.empty()) out += "\nbinds       " + explanation.binds + "\n";
  if (!explanation.next.empty()) out += "next bound  " + explanation.next + "\n";
  return out;
}

std::string ToJson(const Explanation& explanation, int indent) {
  using Json = nlohmann::ordered_json;
  Json facts = Json::object();
  for (const auto& [name, value] : explanation.facts) facts[name] = value;
  const auto listed = [](const std::vector<Parameter>& all) {
    Json rows = Json::array();
    for (const Parameter& p : all) rows.push_back({{"name", p.name}, {"value", p.value}, {"source", p.source}});
    return rows;
  };
  const Json out{{"schema_version", 1},
                 {"title", explanation.title},
                 {"facts", facts},
                 {"operations", explanation.ops},
                 {"formula", explanation.formula},
                 {"factors", listed(explanation.factors)},
                 {"parameters", listed(explanation.parameters)},
                 {"binds", explanation.binds},
                 {"next", explanation.next}};
  return JsonText(out, indent) + "\n";
}

Table ToTable(const Explanation& explanation) {
  Table table{.columns = {{"what"}, {"name"}, {"value"}, {"source"}}, .rows = {{"title", "", explanation.title, ""}}};
  for (const auto& [name, value] : explanation.facts) table.rows.push_back({"fact", name, value, ""});
  for (const std::string& op : explanation.ops) table.rows.push_back({"operation", "", op, ""});
  for (const std::string& line : explanation.formula) table.rows.push_back({"formula", "", line, ""});
  for (const Parameter& p : explanation.factors) table.rows.push_back({"factor", p.name, p.value, p.source});
  for (const Parameter& p : explanation.parameters) table.rows.push_back({"parameter", p.name, p.value, p.source});
  table.rows.push_back({"binds", "", explanation.binds, ""});
  table.rows.push_back({"next bound", "", explanation.next, ""});
  return table;
}

}  // namespace hespas::report
