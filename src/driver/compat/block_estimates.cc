#include "driver/compat/block_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "driver/compat/python_text.h"
#include "estimate/cost.h"
#include "estimate/estimate_all.h"
#include "estimate/registry.h"

namespace hespas::driver::compat {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace

BlockEstimates::BlockEstimates(const Settings& settings, const Blocks& blocks, const estimate::Estimator& estimator,
                               estimate::EstimateCache* kept, const Log& log)
    : settings_(settings),
      blocks_(blocks),
      module_(*blocks.module),
      kept_(kept),
      log_(log),
      rates_{settings.rates.peak_flops, settings.rates.memory_bandwidth, settings.rates.per_datatype_flops},
      estimator_(estimator),
      statistics_(settings.rates, settings.split.compat) {}

Status BlockEstimates::Run(Diagnostics& diagnostics) {
  const auto start = Clock::now();
  if (estimate::Measures(settings_.method)) {
    if (Status measured = Measure(diagnostics); !measured) return measured;
  }
  for (size_t i = 0; i < blocks_.in_order.blocks.size(); ++i) {
    if (blocks_.in_order.blocks[i].kind == graph::BlockKind::kCompute) EstimateBlock(i);
    if (failure_) return *failure_;
  }
  statistics_.Finish(SecondsSince(start));
  return {};
}

Status BlockEstimates::Measure(Diagnostics& diagnostics) {
  const auto start = Clock::now();
  for (const graph::Block& block : blocks_.in_order.blocks) {
    if (KnownBefore(block)) known_before_.insert(block.hash);
  }
  auto table = estimate::EstimateAll(blocks_.in_order, estimator_, kept_, {.reuse = settings_.reuse}, diagnostics);
  if (!table) return table.error();
  measured_ = *std::move(table);
  seconds_a_block_ = SecondsSince(start) / static_cast<double>(std::max<size_t>(1, measured_->reuse.computed));
  return {};
}

bool BlockEstimates::KnownBefore(const graph::Block& block) const {
  if (measured_) return known_before_.contains(block.hash);
  return kept_ != nullptr && kept_->Find(Combine(block.hash, estimator_.key()));
}

void BlockEstimates::EstimateBlock(size_t position) {
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
  const bool known_before = KnownBefore(block);
  const auto start = Clock::now();
  size_t module = 0;
  if (measured_) {
    // Divided, 2.5 us print as such.
    const double seconds = static_cast<double>(measured_->Of(graph::BlockId(position))->time.value) / 1e12;
    module = statistics_.AddWholeModule(file, seconds, expanded, known_before ? 0 : seconds_a_block_);
  } else {
    const std::vector<OpRecord> records = settings_.split.compat ? PrototypeRecords(block) : Records(block);
    module = statistics_.AddModule(file, records, expanded, SecondsSince(start));
  }
  seconds_[position] = statistics_.seconds(module);
  if (known_before) {
    statistics_.CountHit(expanded);
    log_.Progress(fmt::format("Cache hit ({}) for {} - runtime: {}", file, file, Repr(seconds_[position])));
  } else {
    log_.Progress(fmt::format("Runtime estimate for {} - runtime: {}", file, Repr(seconds_[position])));
  }
  if (settings_.reuse) known_[block.hash].module = module;
}

// The synthesised `return` of a block module counts in the prototype.
size_t BlockEstimates::ExpandedOps(const graph::Block& block) const {
  size_t count = settings_.split.compat ? 1 : 0;
  for (const ir::OpId op : block.ops) count += ExpandedCount(module_, op);
  return count;
}

std::vector<OpRecord> BlockEstimates::PrototypeRecords(const graph::Block& block) {
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

void BlockEstimates::Check(const estimate::PrototypeOp& op) {
  if (!op.handled) notes_.push_back({estimate::NoteKind::kNoRule, op.op, std::string(op.name)});
  const double* known = rates_.Find(op.datatype);
  if (known != nullptr && *known == 0 && op.seconds > 0 && !failure_) {
    failure_ = MakeError(kBadSetting, fmt::format("the rate of `{}` is 0, but `{}` needs it", op.datatype, op.name),
                         module_.location(op.op), "give the rate, or leave it out of `per_datatype_flops`");
  }
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
      fmt::format("Datatype {} not found in per_datatype_flops ({{{}}}) for op: {} - using fallback flops rate {:.0f}",
                  op.datatype, table, place, rates_.peak_flops));
}

// Of what a block returns, as the prototype finds the type of its `return`.
std::string BlockEstimates::WidestOutput(const graph::Block& block) const {
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

std::vector<OpRecord> BlockEstimates::Records(const graph::Block& block) {
  std::vector<OpRecord> records;
  for (const ir::OpId op : block.ops) {
    const graph::Estimate estimated = estimator_.EstimateOp(module_, op, notes_);
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

}  // namespace hespas::driver::compat
