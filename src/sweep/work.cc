#include "sweep/work.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "driver/flash_attention.h"
#include "estimate/estimate_all.h"

namespace hespas::sweep {
namespace {

// Time and energy by kind of op as driver::EstimateBlocks sums them up, costliest first.
std::vector<result::OpSummary> KindsOf(const driver::Power& power, const Structure& structure,
                                       const graph::EstimateTable& table, const estimate::Estimator& estimator) {
  const driver::Prepared& prepared = structure.prepared();
  const ir::Module& module = *prepared.module;
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  std::unordered_map<std::string_view, size_t> index;
  std::vector<result::OpSummary> kinds;
  estimate::Notes unused;
  for (size_t i = 0; i < table.unique.size(); ++i) {
    const graph::Block& block = prepared.blocks.blocks[table.first[i].index()];
    for (const ir::OpId op : block.ops) {
      // A block of one op costs what that op does.
      const bool alone = block.ops.size() == 1;
      const graph::Estimate own = alone ? graph::Estimate() : estimator.EstimateOp(module, op, unused);
      const graph::Estimate& estimate = alone ? table.unique[i] : own;
      const auto [row, added] = index.try_emplace(module.name(op), kinds.size());
      if (added) kinds.push_back({.name = std::string(module.name(op))});
      kinds[row->second].time += uses[i] * estimate.time;
      kinds[row->second].energy_j += static_cast<double>(uses[i]) * driver::EnergyOf(power, estimate);
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return kinds;
}

}  // namespace

std::optional<Work> EstimateWork(const driver::RunOptions& options, const hardware::Device& device,
                                 const Structure& structure, Diagnostics& diagnostics) {
  const auto estimator = driver::EstimatorOf(options, device, structure.facts(), diagnostics);
  if (!estimator) return std::nullopt;
  const driver::Prepared& prepared = structure.prepared();
  auto table = estimate::EstimateAll(prepared.blocks, *estimator, nullptr, {}, diagnostics);
  if (!table) {
    diagnostics.Report(table.error());
    return std::nullopt;
  }
  Work work{.estimated = {.table = *std::move(table), .ops = {}, .op_times = {}}};
  work.power = driver::PowerOf(device);
  if (work.power) work.estimated.ops = KindsOf(*work.power, structure, work.estimated.table, *estimator);
  if (options.flash_attention) driver::ApplyFlashAttention(prepared, work.estimated);
  for (const result::OpSummary& kind : work.estimated.ops) work.compute_j += kind.energy_j;
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, work.estimated.table);
  for (size_t i = 0; i < uses.size(); ++i) {
    const graph::Estimate& estimate = work.estimated.table.unique[i];
    work.compute += uses[i] * estimate.time;
    work.flops += uses[i] * estimate.flops;
    work.bytes += uses[i] * estimate.bytes;
  }
  return work;
}

}  // namespace hespas::sweep
