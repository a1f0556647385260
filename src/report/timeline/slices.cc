#include "report/timeline/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "report/step/account.h"

namespace hespas::report {
namespace {

using result::NodeInterval;
using trace::NodeKind;

class Builder {
 public:
  Builder(const StepView& step, Slices& out) : step_(step), nodes_(step.traces), out_(out) {}

  void Build() {
    std::map<uint32_t, std::vector<const NodeInterval*>> by_rank;
    for (const NodeInterval& interval : step_.simulated->intervals) by_rank[interval.rank].push_back(&interval);
    for (auto& [rank, intervals] : by_rank) {
      std::stable_sort(intervals.begin(), intervals.end(), [](const NodeInterval* a, const NodeInterval* b) {
        return std::pair(a->start, a->end) < std::pair(b->start, b->end);  // what only waits comes first
      });
      AddRank(rank, intervals);
    }
    std::stable_sort(out_.slices.begin(), out_.slices.end(), [](const Slice& a, const Slice& b) {
      return std::pair(a.track, a.start) < std::pair(b.track, b.start);
    });
  }

 private:
  void AddRank(uint32_t rank, const std::vector<const NodeInterval*>& intervals) {
    const auto process = static_cast<uint32_t>(out_.processes.size());
    const size_t ranks = step_.traces.program_of_rank.size();
    const bool all = step_.simulated->method == "symmetry" && ranks > 1;
    out_.processes.push_back({all ? fmt::format("ranks 0 to {}", ranks - 1) : fmt::format("rank {}", rank), rank});
    const auto compute = static_cast<uint32_t>(out_.tracks.size());
    out_.tracks.push_back({process, "compute", true});
    lanes_.clear();
    const trace::Program& program = step_.traces.programs[step_.traces.program_of_rank[rank]];
    std::unordered_map<uint64_t, size_t> slice_of;  // communication nodes, and what only waits for one
    for (const NodeInterval* interval : intervals) {
      const trace::Node& node = nodes_.at(rank, interval->node);
      const Time start = step_.simulated->time(interval->start);
      const std::optional<size_t> waited_for = LastCommunication(program, node, slice_of, start);
      if (interval->start == interval->end) {
        if (waited_for) slice_of[node.id] = *waited_for;
        continue;
      }
      const Time end = step_.simulated->time(interval->end);
      const bool computes = node.kind == NodeKind::kCompute;
      Slice slice{.track = computes ? compute : TrackOf(process, rank, node, start, end),
                  .start = start,
                  .end = end,
                  .node = static_cast<uint32_t>(&node - program.nodes.data())};
      if (waited_for) {
        slice.waited_for = ++flows_;
        out_.slices[*waited_for].flows.push_back(slice.waited_for);
      }
      if (!computes) slice_of[node.id] = out_.slices.size();
      out_.slices.push_back(std::move(slice));
    }
  }

  // The communication that ended last of those this node depends on, by the number of its slice.
  std::optional<size_t> LastCommunication(const trace::Program& program, const trace::Node& node,
                                          const std::unordered_map<uint64_t, size_t>& slice_of, Time start) const {
    std::optional<size_t> last;
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const auto found = slice_of.find(program.dependencies[node.first_dependency + d]);
      if (found == slice_of.end()) continue;
      const Time end = out_.slices[found->second].end;
      if (end <= start && (!last || end > out_.slices[*last].end)) last = found->second;
    }
    return last;
  }

  // The first track of the node's communicator that is free at `start`.
  uint32_t TrackOf(uint32_t process, uint32_t rank, const trace::Node& node, Time start, Time end) {
    const bool message = trace::IsMessage(node.kind);
    const uint32_t group = step_.traces.GroupOf(rank, node);
    auto& lanes = lanes_[{message, group}];
    for (Lane& lane : lanes) {
      if (lane.until > start) continue;
      lane.until = end;
      return lane.track;
    }
    const auto track = static_cast<uint32_t>(out_.tracks.size());
    std::string name = message ? "messages" : group == 0 ? "all ranks" : fmt::format("communicator {}", group);
    if (!lanes.empty()) name += fmt::format(" ({})", lanes.size() + 1);
    out_.tracks.push_back({process, std::move(name), false});
    lanes.push_back({track, end});
    return track;
  }

  struct Lane {
    uint32_t track;
    Time until;
  };

  const StepView& step_;
  const NodeIndex nodes_;
  Slices& out_;
  std::map<std::pair<bool, uint32_t>, std::vector<Lane>> lanes_;
  uint64_t flows_ = 0;
};

}  // namespace

Slices MakeSlices(const StepView& step) {
  Slices slices;
  Builder(step, slices).Build();
  return slices;
}

}  // namespace hespas::report
