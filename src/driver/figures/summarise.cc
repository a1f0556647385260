#include "driver/figures/summarise.h"

#include <algorithm>
#include <array>

#include "base/version.h"
#include "driver/figures/uncertainty.h"
#include "driver/figures/utilisation.h"
#include "driver/stages/cost/energy.h"
#include "report/step/account.h"
#include "report/step/block_times.h"
#include "report/step/breakdown.h"
#include "report/step/kernel_table.h"
#include "report/step/throughput.h"

namespace hespas::driver {
namespace {

using result::RunResult;

constexpr std::array kCollectiveNames = {
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};
constexpr size_t kPointToPoint = kCollectiveNames.size();

size_t SlowestRank(const result::SimResult& sim) {
  const auto slowest = std::max_element(sim.ranks.begin(), sim.ranks.end(),
                                        [](const auto& a, const auto& b) { return a.finish < b.finish; });
  return static_cast<size_t>(slowest - sim.ranks.begin());
}

size_t RowOf(const trace::Node& node) {
  return node.kind == trace::NodeKind::kCollective ? static_cast<size_t>(node.collective) : kPointToPoint;
}

// Collectives (and messages, as one row) of the slowest rank: how often, how many bytes, how long; and how those of
// all ranks were priced.
void FillCollectives(const Prepared& prepared, const trace::TraceGraph& traces, const result::SimResult& sim,
                     RunResult& out) {
  const auto rank = static_cast<uint32_t>(SlowestRank(sim));
  const report::NodeIndex nodes(traces);
  std::array<result::CollectiveSummary, kPointToPoint + 1> rows;
  for (const result::NodeInterval& interval : sim.intervals) {
    if (interval.rank != rank) continue;
    const trace::Node& node = nodes.at(rank, interval.node);
    const bool collective = node.kind == trace::NodeKind::kCollective;
    if (!collective && node.kind != trace::NodeKind::kSend) continue;
    result::CollectiveSummary& row = rows[RowOf(node)];
    row.op = collective ? kCollectiveNames[static_cast<size_t>(node.collective)] : "send";
    const bool own = node.block < prepared.blocks.blocks.size();
    const int64_t repeats = own ? prepared.blocks.blocks[node.block].repeats : 1;
    row.count = internal::SaturatingAdd(row.count, repeats);
    row.bytes += repeats * node.size;
    row.time += sim.time(interval.end - interval.start);
  }
  for (const result::PricedNode& priced : sim.pricings)
    rows[RowOf(nodes.at(priced.rank, priced.node))].pricings.push_back(priced.pricing);
  for (result::CollectiveSummary& row : rows) {
    if (row.count > 0) out.collectives.push_back(std::move(row));
  }
}

// Work of all blocks, and what of the device it uses.
void FillWork(const Prepared& prepared, const Estimated& estimated, RunResult& out) {
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, estimated.table);
  for (size_t i = 0; i < uses.size(); ++i) {
    out.flops += uses[i] * estimated.table.unique[i].flops;
    out.bytes_accessed += uses[i] * estimated.table.unique[i].bytes;
  }
  FillUtilisation(prepared.device, LoadOf(prepared, estimated.table, prepared.device), prepared.model_work, out);
  out.blocks.unique = static_cast<int64_t>(estimated.table.unique.size());
  for (const graph::Block& block : prepared.blocks.blocks) {
    int64_t& count = block.kind == graph::BlockKind::kCompute ? out.blocks.compute : out.blocks.communication;
    count = internal::SaturatingAdd(count, block.repeats);
  }
  out.blocks.total = internal::SaturatingAdd(out.blocks.compute, out.blocks.communication);
}

void FillEnergy(const Prepared& prepared, const RunOptions& options, RunResult& out) {
  const auto power = PowerOf(prepared.device);
  if (!power || options.compat) return;
  double compute_j = 0;
  for (const result::OpSummary& op : out.ops) compute_j += op.energy_j;
  out.energy_j = StepEnergy(*power, compute_j, out);
}

Time TotalCompute(const Prepared& prepared, const Estimated& estimated) {
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, estimated.table);
  Time total;
  for (size_t i = 0; i < uses.size(); ++i) total += uses[i] * estimated.table.unique[i].time;
  return total;
}

}  // namespace

void FillTimes(const result::SimResult& sim, RunResult& out) {
  const result::RankResult& rank = sim.ranks[SlowestRank(sim)];
  out.step_time = sim.time(rank.finish);
  out.compute_time = sim.time(rank.gpu.value_or(0));
  out.communication_time = sim.time(rank.comm.value_or(0));
  out.overlap = sim.time(rank.overlap.value_or(0));
  // Overlap wraps around where the rank had idle time (spec astra-sim section 10.1), so the union is measured instead.
  if (out.overlap > out.communication_time) out.overlap = Time();
  out.exposed_communication = out.communication_time - out.overlap;
  out.idle = out.step_time - out.compute_time - out.exposed_communication;
}

Time StepTime(const Prepared& prepared, const Estimated& estimated, const std::optional<result::SimResult>& simulated) {
  return simulated ? simulated->time(simulated->finish()) : TotalCompute(prepared, estimated);
}

report::StepView ViewOf(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                        const std::optional<result::SimResult>& simulated, Time step_time) {
  return {.blocks = prepared.blocks,
          .estimates = estimated.table,
          .op_times = estimated.op_times,
          .traces = traces,
          .simulated = simulated ? &*simulated : nullptr,
          .step_time = step_time};
}

RunResult Summarise(const RunOptions& options, const Prepared& prepared, const Estimated& estimated,
                    const trace::TraceGraph& traces, const std::optional<result::SimResult>& simulated) {
  RunResult out;
  out.program = {.path = options.program.path, .sha256 = prepared.sha256, .ops = prepared.ops};
  out.device = prepared.device.name;
  out.npus = static_cast<int64_t>(traces.program_of_rank.size());
  out.estimator = options.estimate.custom ? options.estimate.custom->name() : options.estimate.estimator;
  const OptimiseOptions& optimise = options.optimise;
  out.optimise = fmt::format("{}{}{}", TextOf(optimise.mode), optimise.xla_flags.empty() ? "" : " ",
                             fmt::join(optimise.xla_flags, " "));
  out.split = prepared.split;
  out.price = prepared.device.price;
  if (simulated) {
    out.network_model = NetworkModelOf(options);
    FillTimes(*simulated, out);
    FillCollectives(prepared, traces, *simulated, out);
  } else {
    out.compute_time = out.step_time = TotalCompute(prepared, estimated);
  }
  FillWork(prepared, estimated, out);
  out.ops = estimated.ops;
  out.unknown_kernels = estimated.unknown;
  out.schedule_limit = optimise.schedule_limit;
  FillEnergy(prepared, options, out);
  if (!options.compat) {
    if (const auto sigma =
            ComputeSigma(prepared, FamiliesOf(prepared, estimated.table), prepared.device, estimated.table))
      out.step_time_sigma = StepSigma(prepared.device, *sigma, out.exposed_communication);
  }
  out.throughput = report::ThroughputOf(*prepared.module, out.npus);
  const report::StepView step = ViewOf(prepared, estimated, traces, simulated, out.step_time);
  out.breakdown = report::MakeBreakdown(step, report::MakeAccount(step));
  if (!options.compat)
    out.kernels = report::KernelTable(step, simulated ? static_cast<uint32_t>(SlowestRank(*simulated)) : 0);
  if (options.output.list_blocks) {
    const auto npu = simulated ? static_cast<uint32_t>(SlowestRank(*simulated)) : 0;
    out.block_times = report::MakeBlockTimes(step, npu);
  }
  out.reproduce = {.command = options.output.command_line,
                   .version = kVersion,
                   .input_hashes = {{options.program.path, "sha256:" + prepared.sha256}}};
  return out;
}

}  // namespace hespas::driver
