#include "sweep/work.h"

#include "driver/figures/uncertainty.h"
#include "driver/stages/cost/flash_attention.h"
#include "driver/stages/cost/op_summaries.h"
#include "driver/stages/cost/power_limit.h"
#include "estimate/estimate_all.h"

namespace hespas::sweep {
namespace {

// Time and energy by kind of op, as driver::EstimateBlocks sums them up.
std::vector<result::OpSummary> KindsOf(const driver::Power& power, const Structure& structure,
                                       const graph::EstimateTable& table, const estimate::Estimator& estimator) {
  const driver::Prepared& prepared = structure.prepared();
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  std::vector<result::OpSummary> kinds;
  estimate::Notes unused;
  const auto cost = [&](size_t i, ir::OpId op) {
    // A block of one op costs what that op does, where nothing was measured: no second estimate.
    const bool known = prepared.blocks.blocks[table.first[i].index()].ops.size() == 1 &&
                       table.unique[i].bound != graph::Bound::kMeasured;
    return known ? table.unique[i] : estimator.EstimateOp(*prepared.module, op, unused);
  };
  driver::ForEachOp(prepared, table, cost, [&](size_t row, size_t i, ir::OpId op, const graph::Estimate& estimate) {
    if (row == kinds.size()) kinds.push_back({.name = std::string(prepared.module->name(op))});
    kinds[row].time += uses[i] * estimate.time;
    kinds[row].energy_j += static_cast<double>(uses[i]) * driver::EnergyOf(power, estimate);
  });
  driver::SortByTime(kinds);
  return kinds;
}

}  // namespace

std::optional<Work> EstimateWork(const driver::RunOptions& options, const hardware::Device& device,
                                 const Structure& structure, Diagnostics& diagnostics) {
  const driver::Prepared& prepared = structure.prepared();
  const auto estimator = driver::EstimatorOf(options, device, structure.buffers(), structure.facts(), diagnostics);
  if (!estimator) return std::nullopt;
  auto table = estimate::EstimateAll(prepared.blocks, *estimator, nullptr, {}, diagnostics);
  if (!table) {
    diagnostics.Report(table.error());
    return std::nullopt;
  }
  Work work{.estimated = {.table = *std::move(table), .ops = {}, .op_times = {}}};
  const double clock = driver::LimitPower(options, device, prepared.blocks, work.estimated.table);
  const auto slower = driver::EstimatorAtClock(*estimator, device, clock);
  const estimate::Estimator& by_op = clock < 1 ? *slower : *estimator;
  work.power = driver::PowerOf(device);
  if (work.power) work.estimated.ops = KindsOf(*work.power, structure, work.estimated.table, by_op);
  if (options.estimate.flash_attention) driver::ApplyFlashAttention(prepared, device, work.estimated);
  for (const result::OpSummary& kind : work.estimated.ops) work.compute_j += kind.energy_j;
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, work.estimated.table);
  for (size_t i = 0; i < uses.size(); ++i) {
    const graph::Estimate& estimate = work.estimated.table.unique[i];
    work.compute += uses[i] * estimate.time;
    work.flops += uses[i] * estimate.flops;
    work.bytes += uses[i] * estimate.bytes;
  }
  work.sigma =
      driver::ComputeSigma(prepared, structure.FamiliesFor(work.estimated.table), device, work.estimated.table);
  work.load = driver::LoadOf(prepared, work.estimated.table, device);
  return work;
}

}  // namespace hespas::sweep
