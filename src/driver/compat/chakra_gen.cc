#include "driver/compat/chakra_gen.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/file.h"
#include "driver/compat/blocks.h"
#include "driver/compat/python_text.h"
#include "driver/compat/trace_bytes.h"
#include "estimate/cost.h"
#include "estimate/estimate_all.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"

namespace hespas::driver::compat {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// "(1x4x4x1xi64 3x3x1x1xi64)", as the prototype shows shapes.
std::string ShapesText(const ir::Module& module, auto values) {
  std::string out = "(";
  for (const ir::ValueId value : values) {
    const ir::Type& type = module.type(value);
    if (out.size() > 1) out += ' ';
    for (const int64_t d : type.dims) out += fmt::format("{}x", d);
    out += ir::ElementText(type.element);
  }
  return out + ")";
}

hardware::Device DeviceOf(const Rates& rates) {
  hardware::Device device;
  device.name = "configuration";
  device.peak_flops = {rates.peak_flops};
  device.memory_bandwidth = {rates.memory_bandwidth};
  for (const auto& [datatype, rate] : rates.per_datatype_flops) device.per_datatype_flops[datatype] = {rate};
  return device;
}

// Estimates blocks one after the other with the log lines and statistics of the prototype.
class Run {
 public:
  Run(const Settings& settings, const Blocks& blocks, const Log& log)
      : settings_(settings),
        blocks_(blocks),
        module_(*blocks.module),
        log_(log),
        rates_{settings.rates.peak_flops, settings.rates.memory_bandwidth, settings.rates.per_datatype_flops},
        roofline_(DeviceOf(settings.rates)),
        statistics_(settings.rates, settings.split.compat) {}

  Status Estimate() {
    const auto start = Clock::now();
    for (size_t i = 0; i < blocks_.in_order.blocks.size(); ++i) {
      if (blocks_.in_order.blocks[i].kind == graph::BlockKind::kCompute) EstimateBlock(i);
      if (failure_) return *failure_;
    }
    statistics_.Finish(SecondsSince(start));
    return {};
  }

  const Statistics& statistics() const { return statistics_; }
  const estimate::Notes& notes() const { return notes_; }
  double seconds(size_t position) const { return seconds_.at(position); }

 private:
  void EstimateBlock(size_t position) {
    const graph::Block& block = blocks_.in_order.blocks[position];
    const std::string file = blocks_.FileName(position);
    log_.Progress(log_.divider());
    const size_t expanded = ExpandedOps(block);
    if (settings_.reuse) {
      const auto [found, is_new] = known_.try_emplace(block.hash, Known{});
      if (!is_new) {
        statistics_.AddHit(file, found->second.module, expanded);
        seconds_[position] = statistics_.seconds(found->second.module);
        log_.Progress(
            fmt::format("Cache hit ({}) for {} - runtime: {}", found->second.file, file, Repr(seconds_[position])));
        return;
      }
      found->second.file = file;
    }
    const auto start = Clock::now();
    const std::vector<OpRecord> records = settings_.split.compat ? PrototypeRecords(block) : Records(block);
    const size_t module = statistics_.AddModule(file, records, expanded, SecondsSince(start));
    seconds_[position] = statistics_.seconds(module);
    log_.Progress(fmt::format("Runtime estimate for {} - runtime: {}", file, Repr(seconds_[position])));
    if (settings_.reuse) known_[block.hash].module = module;
  }

  // The synthesised `return` of a block module counts in the prototype.
  size_t ExpandedOps(const graph::Block& block) const {
    size_t count = settings_.split.compat ? 1 : 0;
    for (const ir::OpId op : block.ops) count += ExpandedCount(module_, op);
    return count;
  }

  std::vector<OpRecord> PrototypeRecords(const graph::Block& block) {
    std::vector<OpRecord> records;
    for (const ir::OpId op : block.ops) {
      for (const ir::OpId inner : estimate::PrototypeExpansion(module_, op)) {
        estimate::PrototypeOp estimated = estimate::EstimatePrototypeOp(module_, inner, rates_);
        Check(estimated);
        records.push_back({.name = std::string(estimated.name),
                           .datatype = std::move(estimated.datatype),
                           .seconds = estimated.seconds,
                           .flops = estimated.flops,
                           .bytes = estimated.bytes});
      }
    }
    records.push_back({.name = "func.return", .datatype = WidestOutput(block)});
    return records;
  }

  void Check(const estimate::PrototypeOp& op) {
    if (!op.handled) notes_.push_back({estimate::NoteKind::kNoRule, op.op, std::string(op.name)});
    if (!op.unknown_datatype) return;
    const std::string place = fmt::format("{} {} -> {}", op.name, ShapesText(module_, module_.operands(op.op)),
                                          ShapesText(module_, module_.results(op.op)));
    if (settings_.error_on_unknown_type && !failure_) {
      failure_ =
          MakeError(kUnknownRate, fmt::format("no rate for `{}` (op {})", op.datatype, place), module_.location(op.op));
    }
    if (!settings_.warn_on_unknown_type || !warned_.insert(op.op.value).second) return;
    std::string table;
    for (const auto& [name, rate] : rates_.per_datatype_flops)
      table += fmt::format("{}'{}': {}", table.empty() ? "" : ", ", name, Repr(rate));
    log_.Warning(
        "hespas.estimator.roofline_estimator",
        fmt::format(
            "Datatype {} not found in per_datatype_flops ({{{}}}) for op: {} - using fallback flops rate {:.0f}",
            op.datatype, table, place, rates_.peak_flops));
  }

  // Of what a block returns, as the prototype finds the type of its `return`.
  std::string WidestOutput(const graph::Block& block) const {
    const ir::Element* widest = nullptr;
    for (const ir::ValueId value : block.outputs) {
      std::vector<ir::TypeId> types = {module_.type_id(value)};
      while (!types.empty()) {
        const ir::Type& type = module_.types()[types.back()];
        types.pop_back();
        types.insert(types.end(), type.nested.rbegin(), type.nested.rend());
        if (type.element.kind == ir::ElementKind::kNone) continue;
        if (widest == nullptr || ir::ElementBits(type.element) > ir::ElementBits(*widest)) widest = &type.element;
      }
    }
    if (widest == nullptr) return "None";
    ir::Element component = *widest;
    component.complex = false;
    return ir::ElementText(component);
  }

  std::vector<OpRecord> Records(const graph::Block& block) {
    std::vector<OpRecord> records;
    for (const ir::OpId op : block.ops) {
      const graph::Estimate estimated = roofline_.EstimateOp(module_, op, notes_);
      const ir::Element* element = estimate::RateElement(module_, op, estimate::CostOf(module_, op).contraction);
      records.push_back({.name = std::string(module_.name(op)),
                         .datatype = element == nullptr ? "none" : ir::ElementText(*element),
                         .seconds = estimated.time.seconds(),
                         .compute_seconds = estimated.terms.empty() ? 0 : estimated.terms[0].time.seconds(),
                         .flops = estimated.flops.value,
                         .bytes = estimated.bytes.value});
    }
    return records;
  }

  struct Known {
    size_t module = 0;
    std::string file;
  };

  const Settings& settings_;
  const Blocks& blocks_;
  const ir::Module& module_;
  const Log& log_;
  estimate::PrototypeRates rates_;
  estimate::Roofline roofline_;
  Statistics statistics_;
  estimate::Notes notes_;
  std::unordered_map<Hash128, Known> known_;
  std::unordered_map<size_t, double> seconds_;
  std::set<uint32_t> warned_;
  std::optional<Error> failure_;
};

// Traces of every device: one file copied to all, or one for each where groups split the devices.
Status WriteTraces(const Settings& settings, const Blocks& blocks, const Run& run, const Log& log) {
  assemble::PrototypeGroups groups;
  std::vector<TraceNode> nodes;
  for (size_t i = 0; i < blocks.in_order.blocks.size(); ++i) {
    const graph::Block& block = blocks.in_order.blocks[i];
    TraceNode& node = nodes.emplace_back();
    for (const graph::BlockId p : block.predecessors) node.dependencies.push_back(p.index());
    node.communication = block.kind == graph::BlockKind::kCommunication;
    if (node.communication) {
      node.what = assemble::DescribeAsPrototype(*blocks.module, block);
      groups.Add(node.what);
    } else {
      node.duration_micros = Microseconds(run.seconds(i));
    }
  }
  const uint32_t npus = settings.num_npus.value_or(1);
  log.Info(
      groups.split()
          ? fmt::format("Generating per-device chakra traces for {} devices (split replica groups detected).", npus)
          : fmt::format("Generating shared chakra trace for {} devices.", npus));
  const fs::path folder = settings.output_dir;
  std::string bytes;
  for (uint32_t device = 0; device < npus; ++device) {
    if (device == 0 || groups.split()) bytes = TraceBytes(nodes, groups, device);
    if (Status written = WriteFileAtomically(folder / fmt::format("dev.{}.et", device), bytes); !written)
      return written;
  }
  const std::string path = (folder / "comm_group.json").string();
  if (Status written = WriteFileAtomically(path, CommGroupJson(groups, npus)); !written) return written;
  log.Info(fmt::format("Wrote communicator group definitions to {}", path));
  return {};
}

void LogCache(const Settings& settings, const Log& log) {
  if (settings.reuse) log.Info(fmt::format("No cached results found at: '{}'", settings.cache_dir));
  log.Info("Dependency graph not loaded. Generating a new one.");
}

}  // namespace

Status GenerateTraces(const CommandLine& command, const Log& log, Diagnostics& diagnostics) {
  auto settings = ReadSettings(command, true);
  if (!settings) return settings.error();
  if (Status prepared = PrepareOutput(*settings, log); !prepared) return prepared;
  LogCache(*settings, log);
  auto blocks = MakeBlocks(*settings, log, diagnostics);
  if (!blocks) return blocks.error();
  log.Info(fmt::format("Parsed {} modules from the MLIR file.", blocks->in_order.blocks.size()));
  log.Info(fmt::format(">>>> DiGraph with {} nodes and {} edges", blocks->in_order.blocks.size(), blocks->edge_count));
  const auto start = Clock::now();
  Run run(*settings, *blocks, log);
  if (Status estimated = run.Estimate(); !estimated) return estimated;
  estimate::ReportNotes(*blocks->module, run.notes(), false, diagnostics);
  log.Progress(log.divider());
  if (Status written = WriteTraces(*settings, *blocks, run, log); !written) return written;
  const fs::path folder = settings->output_dir;
  if (Status written = WriteFileAtomically(folder / "module_stats.json", run.statistics().ToJson()); !written)
    return written;
  run.statistics().LogSummary(log);
  log.Info("Chakra gen done.");
  log.Results(log.divider());
  log.Results(fmt::format("Done. Output directory: {}", settings->output_dir));
  log.Results(fmt::format("Took {}s", RoundedRepr(SecondsSince(start))));
  return {};
}

}  // namespace hespas::driver::compat
