#include "simulate/engine/loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"

namespace hespas::simulate {
namespace {

using result::NodeInterval;
using trace::NodeKind;

constexpr uint64_t kFar = std::numeric_limits<int64_t>::max();

uint64_t Product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kFar : std::min(product, kFar);
}
uint64_t Sum(uint64_t a, uint64_t b) { return std::min(a + b, kFar); }

// Where the time between `from` and `to` passes `slower` times as slowly.
struct Window {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t slower = 1;

  uint64_t Of(uint64_t time) const { return Sum(time, Product(std::clamp(time, from, to) - from, slower - 1)); }
};

using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

uint64_t UnionOf(Spans spans) {
  std::sort(spans.begin(), spans.end());
  uint64_t sum = 0;
  uint64_t until = 0;
  for (const auto& [start, end] : spans) {
    sum += end > std::max(start, until) ? end - std::max(start, until) : 0;
    until = std::max(until, end);
  }
  return sum;
}

// One rank's nodes, by position, with when they ran.
class RankLoops {
 public:
  RankLoops(const trace::TraceGraph& trace, uint32_t rank, std::vector<NodeInterval*> intervals)
      : trace_(trace),
        program_(trace.ProgramOf(rank)),
        intervals_(std::move(intervals)),
        repeats_(intervals_.size(), 1) {
    for (const NodeInterval* interval : intervals_) length_.push_back(interval ? interval->end - interval->start : 0);
  }

  // Returns how far the window is from the one before it, of its length.
  double Run(result::RankResult& rank) {
    double drift = 0;
    for (const RepeatedLoop& loop : trace_.loops) {
      const auto [window, before] = WindowOf(loop);
      for (size_t i = NodeOf(loop, loop.first); i < NodeOf(loop, loop.first + loop.count); ++i) {
        repeats_[i] = Product(repeats_[i], static_cast<uint64_t>(loop.repeats()));
      }
      if (window.to <= window.from) {  // backwards: the loop never came into step
        if (window.to < window.from) drift = 1;
        continue;
      }
      const double length = static_cast<double>(window.to - window.from);
      drift = std::max(drift, std::abs(length - static_cast<double>(before)) / length);
      for (NodeInterval* interval : intervals_) {
        if (interval == nullptr) continue;
        interval->start = window.Of(interval->start);
        interval->end = window.Of(interval->end);
      }
      rank.finish = window.Of(rank.finish);
      if (rank.wall) rank.wall = window.Of(*rank.wall);
    }
    FillTotals(rank);
    return drift;
  }

 private:
  bool Communicates(size_t node) const { return program_.nodes[node].kind != NodeKind::kCompute; }

  // The first node of a laid-out iteration.
  size_t NodeOf(const RepeatedLoop& loop, size_t iteration) const {
    const auto at = std::partition_point(program_.nodes.begin(), program_.nodes.end(), [&](const trace::Node& node) {
      return node.block < loop.first_block[iteration];
    });
    return static_cast<size_t>(at - program_.nodes.begin());
  }

  // With the length of the one before it.
  std::pair<Window, uint64_t> WindowOf(const RepeatedLoop& loop) const {
    const size_t begin = NodeOf(loop, loop.first);
    const size_t end = NodeOf(loop, loop.first + 1);
    size_t anchor = begin;
    while (anchor < end && !Communicates(anchor)) ++anchor;
    const size_t offset = anchor < end ? anchor - begin : 0;
    const auto start = [&](size_t iteration) -> uint64_t {
      const size_t node = NodeOf(loop, iteration) + offset;
      return node < intervals_.size() && intervals_[node] != nullptr ? intervals_[node]->start : 0;
    };
    const uint64_t from = start(loop.first);
    const uint64_t before = start(loop.first - loop.count);
    return {{from, start(loop.first + loop.count), static_cast<uint64_t>(loop.repeats())},
            from > before ? from - before : 0};
  }

  void FillTotals(result::RankResult& rank) const {
    uint64_t computed = 0;
    uint64_t once = 0;  // of communication, in the iterations that were simulated
    uint64_t communicated = 0;
    Spans computing;
    Spans busy;
    for (size_t i = 0; i < intervals_.size(); ++i) {
      if (intervals_[i] == nullptr || program_.nodes[i].is_cpu) continue;  // the host's work runs beside all else
      uint64_t& total = Communicates(i) ? communicated : computed;
      total = Sum(total, Product(length_[i], repeats_[i]));
      if (Communicates(i)) once += length_[i];
      busy.emplace_back(intervals_[i]->start, intervals_[i]->end);
      if (!Communicates(i)) computing.push_back(busy.back());
    }
    // Of communications in flight at once the share stays.
    if (once > 0 && rank.comm.value_or(once) != once) {
      communicated = static_cast<uint64_t>(static_cast<double>(communicated) * static_cast<double>(*rank.comm) /
                                           static_cast<double>(once));
    }
    const uint64_t shown = UnionOf(std::move(computing));
    const uint64_t waiting = UnionOf(std::move(busy)) - shown;
    const uint64_t elsewhere = computed > shown ? computed - shown : 0;
    const uint64_t exposed = waiting > elsewhere ? waiting - elsewhere : 0;
    rank.finish = std::max({rank.finish, computed, communicated});
    rank.gpu = computed;
    rank.comm = communicated;
    rank.overlap = communicated - std::min(communicated, exposed);
    rank.exposed = rank.finish - computed;
  }

  const trace::TraceGraph& trace_;
  const trace::Program& program_;
  std::vector<NodeInterval*> intervals_;  // by node; nullptr where it did not run
  std::vector<uint64_t> length_;          // by node, as simulated
  std::vector<uint64_t> repeats_;         // by node
};

}  // namespace

void RepeatLoops(const trace::TraceGraph& trace, result::SimResult& result) {
  std::vector<std::vector<NodeInterval*>> by_rank(result.ranks.size());
  for (NodeInterval& interval : result.intervals) {
    auto& nodes = by_rank[interval.rank];
    if (nodes.empty()) nodes.resize(trace.ProgramOf(interval.rank).nodes.size());
    if (interval.node < nodes.size()) nodes[interval.node] = &interval;
  }
  result.loop_drift = 0;
  for (uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    if (by_rank[rank].empty()) continue;
    const double drift = RankLoops(trace, rank, std::move(by_rank[rank])).Run(result.ranks[rank]);
    result.loop_drift = std::max(*result.loop_drift, drift);
  }
  if (result.method == "symmetry") std::fill(result.ranks.begin() + 1, result.ranks.end(), result.ranks.front());
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](uint32_t a, uint32_t b) { return result.ranks[a].finish < result.ranks[b].finish; });
}

}  // namespace hespas::simulate
