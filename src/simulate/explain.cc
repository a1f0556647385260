#include "simulate/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace hespas::simulate {

using result::CollectiveUse;
using result::NodeInterval;
using result::PathStep;
using trace::Node;
using trace::NodeKind;

namespace {

constexpr uint32_t kNowhere = 0xFFFFFFFFu;

bool IsCompute(const Node& node) { return node.kind == NodeKind::kCompute && !node.is_cpu; }

// The run's intervals with their nodes, and what belongs together. Look-ups take logarithmic time at most.
class Timeline {
 public:
  Timeline(const trace::TraceGraph& trace, const result::SimResult& result) : trace_(trace), result_(result) {
    ranks_ = result.intervals.empty() ? 0 : result.intervals.back().rank + 1;
    busy_.resize(ranks_);
    by_end_.resize(ranks_);
    index_.resize(ranks_);
    FindNodes();
    for (uint32_t i = 0; i < result.intervals.size(); ++i) Enter(i);
    for (auto& list : by_end_) {
      std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) { return at(a).end < at(b).end; });
    }
    GroupCollectives();
  }

  const NodeInterval& at(uint32_t i) const { return result_.intervals[i]; }
  const Node& node(uint32_t i) const { return *nodes_[i]; }
  const std::vector<std::vector<uint32_t>>& collectives() const { return collectives_; }
  const std::vector<uint32_t>* MembersOf(uint32_t i) const {
    const auto found = collective_of_.find(i);
    return found == collective_of_.end() ? nullptr : &collectives_[found->second];
  }

  // Ticks before `time` during which the rank computed.
  uint64_t ComputedBefore(uint32_t rank, uint64_t time) const {
    const std::vector<Busy>& busy = busy_[rank];
    const auto after =
        std::partition_point(busy.begin(), busy.end(), [&](const Busy& entry) { return entry.start < time; });
    if (after == busy.begin()) return 0;
    const Busy& last = *std::prev(after);
    return last.before + std::min(last.end, time) - last.start;
  }

  // A dependency, else any node of the rank, that ended when `i` began.
  uint32_t Before(uint32_t i) const {
    const Node& here = node(i);
    const trace::Program& program = trace_.ProgramOf(at(i).rank);
    const auto& index = index_[at(i).rank];
    for (uint32_t d = 0; d < here.dependency_count; ++d) {
      const auto found = index.find(program.dependencies[here.first_dependency + d]);
      if (found != index.end() && at(found->second).end == at(i).start && found->second != i) return found->second;
    }
    const std::vector<uint32_t>& ends = by_end_[at(i).rank];
    auto next = std::partition_point(ends.begin(), ends.end(), [&](uint32_t k) { return at(k).end < at(i).start; });
    for (; next != ends.end() && at(*next).end == at(i).start; ++next) {
      if (*next != i && at(*next).start < at(i).start) return *next;
    }
    return kNowhere;
  }

 private:
  // One compute slot: compute nodes of a rank do not overlap each other.
  struct Busy {
    uint64_t start;
    uint64_t end;
    uint64_t before;  // ticks computed until `start`
  };

  void FindNodes() {
    std::vector<std::unordered_map<uint64_t, const Node*>> by_program(trace_.programs.size());
    for (size_t p = 0; p < trace_.programs.size(); ++p) {
      for (const Node& node : trace_.programs[p].nodes) by_program[p][node.id] = &node;
    }
    nodes_.reserve(result_.intervals.size());
    for (const NodeInterval& interval : result_.intervals)
      nodes_.push_back(by_program[trace_.program_of_rank[interval.rank]].at(interval.node));
  }

  void Enter(uint32_t i) {
    const NodeInterval& interval = at(i);
    index_[interval.rank][interval.node] = i;
    by_end_[interval.rank].push_back(i);
    if (!IsCompute(node(i))) return;
    std::vector<Busy>& busy = busy_[interval.rank];
    const uint64_t before = busy.empty() ? 0 : busy.back().before + busy.back().end - busy.back().start;
    busy.push_back({interval.start, interval.end, before});
  }

  // The k-th collective of one kind and group at each rank belong together.
  void GroupCollectives() {
    std::map<std::tuple<uint32_t, uint8_t, uint64_t>, uint32_t> known;
    std::map<std::tuple<uint32_t, uint32_t, uint8_t>, uint64_t> count;
    for (uint32_t i = 0; i < result_.intervals.size(); ++i) {
      const Node& here = node(i);
      if (here.kind != NodeKind::kCollective) continue;
      const auto kind = static_cast<uint8_t>(here.collective);
      const uint32_t group = trace_.GroupOf(at(i).rank, here);
      const uint64_t number = count[{at(i).rank, group, kind}]++;
      const auto [found, added] = known.try_emplace({group, kind, number}, static_cast<uint32_t>(collectives_.size()));
      if (added) collectives_.emplace_back();
      collectives_[found->second].push_back(i);
      collective_of_[i] = found->second;
    }
  }

  const trace::TraceGraph& trace_;
  const result::SimResult& result_;
  std::vector<const Node*> nodes_;                             // of the intervals
  std::vector<std::vector<Busy>> busy_;                        // by rank
  std::vector<std::vector<uint32_t>> by_end_;                  // by rank
  std::vector<std::unordered_map<uint64_t, uint32_t>> index_;  // by rank: node id -> interval
  std::vector<std::vector<uint32_t>> collectives_;
  std::unordered_map<uint32_t, uint32_t> collective_of_;
  uint32_t ranks_ = 0;
};

uint32_t LastToCome(const Timeline& timeline, const std::vector<uint32_t>& members) {
  return *std::max_element(members.begin(), members.end(),
                           [&](uint32_t a, uint32_t b) { return timeline.at(a).start < timeline.at(b).start; });
}

// Ticks of [from, to) during which the rank computes nothing.
uint64_t Uncovered(const Timeline& timeline, uint32_t rank, uint64_t from, uint64_t to) {
  const uint64_t covered = timeline.ComputedBefore(rank, to) - timeline.ComputedBefore(rank, from);
  return to - from - std::min(covered, to - from);
}

CollectiveUse Describe(const Timeline& timeline, const std::vector<uint32_t>& members) {
  const uint32_t last = LastToCome(timeline, members);
  const NodeInterval& first = timeline.at(members[0]);
  CollectiveUse use{.node = first.node,
                    .rank = first.rank,
                    .name = timeline.node(members[0]).name,
                    .members = static_cast<uint32_t>(members.size()),
                    .bytes = static_cast<uint64_t>(timeline.node(members[0]).size.value),
                    .start = first.start,
                    .last_member = timeline.at(last).rank};
  for (const uint32_t i : members) {
    const NodeInterval& member = timeline.at(i);
    use.start = std::min(use.start, member.start);
    use.end = std::max(use.end, member.end);
    const uint64_t exposed = Uncovered(timeline, member.rank, member.start, member.end);
    if (exposed < use.exposed) continue;
    use.exposed = exposed;
    use.waited = Uncovered(timeline, member.rank, member.start, std::min(member.end, timeline.at(last).start));
  }
  return use;
}

// One rank was simulated for all.
uint32_t MembersOf(const trace::TraceGraph& trace, const Node& node, const result::SimResult& result) {
  const auto group = trace.groups.find(trace.GroupOf(0, node));
  return static_cast<uint32_t>(group == trace.groups.end() ? result.ranks.size() : group->second.size());
}

std::vector<PathStep> CriticalPath(const Timeline& timeline, size_t count) {
  std::vector<PathStep> path;
  uint32_t at = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (timeline.at(i).end > timeline.at(at).end) at = i;
  }
  for (size_t steps = 0; at != kNowhere && steps < count; ++steps) {
    const std::vector<uint32_t>* members = timeline.MembersOf(at);
    const uint32_t last = members != nullptr ? LastToCome(timeline, *members) : at;
    const bool waits = timeline.at(last).start > timeline.at(at).start;
    const uint32_t origin = waits ? last : at;
    const NodeInterval& here = timeline.at(at);
    path.push_back({.node = here.node,
                    .rank = here.rank,
                    .name = timeline.node(at).name,
                    .why = waits                ? fmt::format("waits for NPU {}", timeline.at(last).rank)
                           : members != nullptr ? "transfer"
                                                : (IsCompute(timeline.node(at)) ? "compute" : "other"),
                    .start = timeline.at(origin).start,
                    .end = here.end});
    at = timeline.Before(origin);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

void ExplainIntervals(const trace::TraceGraph& trace, result::SimResult& result) {
  std::stable_sort(result.intervals.begin(), result.intervals.end(), [](const NodeInterval& a, const NodeInterval& b) {
    return std::tuple(a.rank, a.start) < std::tuple(b.rank, b.start);
  });
  if (result.intervals.empty()) return;
  const Timeline timeline(trace, result);
  for (const std::vector<uint32_t>& members : timeline.collectives()) {
    result.collectives.push_back(Describe(timeline, members));
    if (result.method == "symmetry")
      result.collectives.back().members = MembersOf(trace, timeline.node(members[0]), result);
  }
  std::stable_sort(result.collectives.begin(), result.collectives.end(),
                   [](const CollectiveUse& a, const CollectiveUse& b) { return a.start < b.start; });
  result.critical_path = CriticalPath(timeline, result.intervals.size());
}

}  // namespace hespas::simulate
