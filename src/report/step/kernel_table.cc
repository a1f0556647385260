#include "report/step/kernel_table.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "report/step/account.h"
#include "report/step/breakdown.h"
#include "report/step/kernel_name.h"

namespace hespas::report {
namespace {

using result::KernelSummary;

class Rows {
 public:
  // Equal names must be one object (KernelNames::GroupOf).
  KernelSummary& Of(const std::string& name) {
    const auto [found, is_new] = index_.try_emplace(&name, rows_.size());
    if (is_new) rows_.push_back({.name = name});
    return rows_[found->second];
  }
  std::vector<KernelSummary> Take() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    return std::move(rows_);
  }

 private:
  std::unordered_map<const std::string*, size_t> index_;
  std::vector<KernelSummary> rows_;
};

void Add(const graph::Block& block, Time time, Flops flops, Bytes bytes, KernelSummary& row) {
  row.count = internal::SaturatingAdd(row.count, block.repeats);
  row.time += block.repeats * time;
  row.flops += block.repeats * flops;
  row.bytes += block.repeats * bytes;
}

// Operations of a block that costs something; the block's work stands with the one that takes longest.
void AddComputed(const StepView& step, size_t at, KernelNames& names, Rows& rows) {
  const graph::Block& block = step.blocks.blocks[at];
  const graph::Estimate* estimate = step.estimates.Of(graph::BlockId(at));
  if (estimate == nullptr || estimate->time == Time() || block.ops.empty()) return;
  const size_t longest = names.LongestOp(at);
  if (block.ops.size() == 1)
    return Add(block, estimate->time, estimate->flops, estimate->bytes, rows.Of(names.GroupOf(at, 0)));
  const uint32_t distinct = step.estimates.of_block[at];
  const bool known = distinct < step.op_times.size() && step.op_times[distinct].size() == block.ops.size();
  const std::vector<Time> times =
      known ? Divide(estimate->time, step.op_times[distinct]) : std::vector<Time>{estimate->time};
  for (size_t i = 0; i < times.size(); ++i) {
    const size_t op = known ? i : longest;
    if (times[i] == Time()) continue;
    const bool all = op == longest;
    Add(block, times[i], all ? estimate->flops : Flops(), all ? estimate->bytes : Bytes(),
        rows.Of(names.GroupOf(at, op)));
  }
}

}  // namespace

std::vector<KernelSummary> KernelTable(const StepView& step, uint32_t rank) {
  Rows rows;
  KernelNames names(step);
  for (size_t i = 0; i < step.blocks.blocks.size(); ++i) AddComputed(step, i, names, rows);
  if (step.simulated == nullptr) return rows.Take();
  const NodeIndex nodes(step.traces);
  for (const result::NodeInterval& interval : step.simulated->intervals) {
    if (interval.rank != rank) continue;
    const trace::Node& node = nodes.at(rank, interval.node);
    const bool communicates = node.kind == trace::NodeKind::kCollective || node.kind == trace::NodeKind::kSend;
    if (!communicates || node.block >= step.blocks.blocks.size()) continue;
    const graph::Block& block = step.blocks.blocks[node.block];
    if (block.ops.empty()) continue;
    KernelSummary& row = rows.Of(names.GroupOf(node.block, names.LongestOp(node.block)));
    row.count = internal::SaturatingAdd(row.count, block.repeats);
    row.time += step.simulated->time(interval.end - interval.start);
    row.bytes += block.repeats * node.size;
  }
  return rows.Take();
}

}  // namespace hespas::report
