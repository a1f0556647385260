#include "report/step/account.h"

#include <algorithm>

namespace hespas::report {
namespace {

using result::NodeInterval;

// The intervals of one rank, in order of their start.
struct RankIntervals {
  std::vector<const NodeInterval*> compute;
  std::vector<const NodeInterval*> communication;
  std::vector<uint32_t> compute_block;
  std::vector<uint32_t> communication_block;
};

std::vector<RankIntervals> Sort(const StepView& step, const NodeIndex& nodes) {
  std::vector<const NodeInterval*> order;
  order.reserve(step.simulated->intervals.size());
  for (const NodeInterval& interval : step.simulated->intervals) order.push_back(&interval);
  std::stable_sort(order.begin(), order.end(),
                   [](const NodeInterval* a, const NodeInterval* b) { return a->start < b->start; });
  std::vector<RankIntervals> ranks(step.traces.program_of_rank.size());
  for (const NodeInterval* interval : order) {
    const trace::Node& node = nodes.at(interval->rank, interval->node);
    RankIntervals& rank = ranks[interval->rank];
    const bool compute = node.kind == trace::NodeKind::kCompute;
    (compute ? rank.compute : rank.communication).push_back(interval);
    (compute ? rank.compute_block : rank.communication_block)
        .push_back(std::min(node.block, static_cast<uint32_t>(step.blocks.blocks.size())));
  }
  return ranks;
}

class Accountant {
 public:
  Accountant(const StepView& step, Account& account) : step_(step), account_(account) {}

  // `count`: devices that do the same. Returns the ticks in which the rank did anything.
  void Add(const RankIntervals& rank, int64_t count) {
    const Time busy = AddCompute(rank, count) + AddExposed(rank, count);
    account_.idle += count * (step_.step_time - busy);
  }

 private:
  Time AddCompute(const RankIntervals& rank, int64_t count) {
    Time sum;
    uint64_t from = 0;
    for (size_t i = 0; i < rank.compute.size(); ++i) {
      const NodeInterval& interval = *rank.compute[i];
      const Time time = Ticks(std::max(interval.start, from), interval.end);
      from = std::max(from, interval.end);
      account_.computed[rank.compute_block[i]] += count * time;
      sum += time;
    }
    return sum;
  }

  Time AddExposed(const RankIntervals& rank, int64_t count) {
    Time sum;
    uint64_t from = 0;
    size_t compute = 0;
    for (size_t i = 0; i < rank.communication.size(); ++i) {
      const NodeInterval& interval = *rank.communication[i];
      uint64_t at = std::max(interval.start, from);
      from = std::max(from, interval.end);
      Time exposed;
      while (at < interval.end) {
        while (compute < rank.compute.size() && rank.compute[compute]->end <= at) ++compute;
        const bool more = compute < rank.compute.size();
        const uint64_t next = more ? std::clamp(rank.compute[compute]->start, at, interval.end) : interval.end;
        exposed += Ticks(at, next);
        at = more ? std::max(next, std::min(rank.compute[compute]->end, interval.end)) : next;
        if (more && rank.compute[compute]->start >= interval.end) break;
      }
      account_.exposed[rank.communication_block[i]] += count * exposed;
      sum += exposed;
    }
    return sum;
  }

  Time Ticks(uint64_t from, uint64_t to) const { return to > from ? step_.simulated->time(to - from) : Time(); }

  const StepView& step_;
  Account& account_;
};

// Without a network every device runs the blocks one after the other.
void AccountWithoutNetwork(const StepView& step, int64_t devices, Account& account) {
  Time busy;
  for (size_t i = 0; i < step.blocks.blocks.size(); ++i) {
    const graph::Estimate* estimate = step.estimates.Of(graph::BlockId(i));
    if (estimate == nullptr) continue;
    const Time time = step.blocks.blocks[i].repeats * estimate->time;
    account.computed[i] = devices * time;
    busy += time;
  }
  account.idle = devices * (step.step_time - busy);
}

}  // namespace

NodeIndex::NodeIndex(const trace::TraceGraph& traces) : traces_(traces) {
  for (const trace::Program& program : traces.programs) {
    std::vector<uint32_t>& positions = by_program_.emplace_back(program.nodes.size());
    for (uint32_t i = 0; i < program.nodes.size(); ++i) {
      if (program.nodes[i].id < positions.size()) positions[program.nodes[i].id] = i;
    }
  }
}

const trace::Node& NodeIndex::at(uint32_t rank, uint64_t id) const {
  const uint32_t program = traces_.program_of_rank[rank];
  return traces_.programs[program].nodes[by_program_[program][id]];
}

Account MakeAccount(const StepView& step, std::optional<uint32_t> npu) {
  Account account;
  account.computed.resize(step.blocks.blocks.size() + 1);
  account.exposed.resize(step.blocks.blocks.size() + 1);
  const int64_t devices = npu ? 1 : static_cast<int64_t>(step.traces.program_of_rank.size());
  account.total = devices * step.step_time;
  if (step.simulated == nullptr) {
    AccountWithoutNetwork(step, devices, account);
    return account;
  }
  const std::vector<RankIntervals> ranks = Sort(step, NodeIndex(step.traces));
  Accountant accountant(step, account);
  if (step.simulated->method == "symmetry") {
    accountant.Add(ranks[0], devices);
    return account;
  }
  if (npu) {
    accountant.Add(ranks[*npu], 1);
    return account;
  }
  for (const RankIntervals& rank : ranks) accountant.Add(rank, 1);
  return account;
}

}  // namespace hespas::report
