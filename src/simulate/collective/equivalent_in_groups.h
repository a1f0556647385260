// Whether all ranks do the same at the same times: they run one program, each kind of group divides them, and a
// collective takes equally long in all groups of its kind. With groups of several kinds, ties between them decide which
// goes first (ties.h): only where ranks are too many to simulate each are they taken to decide alike on all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "simulate/collective/analytical.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

enum class Equivalence : uint8_t { kNone, kWithoutTies, kAlways };

class EquivalentInGroups {
 public:
  EquivalentInGroups(const trace::TraceGraph& trace, const CommunicationTime& time_of, const AnalyticalOptions& options)
      : trace_(trace), time_of_(time_of), options_(options), many_(trace.program_of_rank.size() > kSimulatedApart) {}

  Equivalence Find() {
    if (trace_.arguments.empty()) return Equivalence::kAlways;
    std::set<std::tuple<uint32_t, trace::Collective, int64_t>> timed;
    bool of_all = false;
    for (const trace::Node& node : trace_.programs.front().nodes) {
      if (node.kind != trace::NodeKind::kCollective) continue;
      if (!node.per_rank && node.group != 0) return Equivalence::kNone;
      of_all = of_all || !node.per_rank;
      if (!node.per_rank) continue;
      const auto [firsts, added] = firsts_.try_emplace(node.group);
      if (added && !Divides(node.group, firsts->second)) return Equivalence::kNone;
      const bool is_new = timed.emplace(node.group, node.collective, node.size.value).second;
      if (is_new && !Alike(node, firsts->second)) return Equivalence::kNone;
    }
    if (firsts_.size() + (of_all ? 1 : 0) < 2 || many_) return Equivalence::kAlways;
    return options_.share_links ? Equivalence::kNone : Equivalence::kWithoutTies;
  }

 private:
  static constexpr size_t kSimulatedApart = 16384;  // ranks

  uint32_t NameOf(uint32_t rank, uint32_t place) const { return trace_.arguments[rank].groups[place]; }

  using Firsts = std::vector<const std::vector<uint32_t>*>;

  // Every rank is in the group that it names, whose members all name it.
  bool Divides(uint32_t place, Firsts& firsts) const {
    std::vector<bool> placed(trace_.program_of_rank.size());
    for (uint32_t rank = 0; rank < placed.size(); ++rank) {
      const auto group = trace_.groups.find(NameOf(rank, place));
      if (group == trace_.groups.end() || group->second.empty()) return false;
      if (group->second.front() != rank) continue;
      for (const uint32_t member : group->second) {
        if (placed[member] || NameOf(member, place) != group->first) return false;
        placed[member] = true;
      }
      firsts.push_back(&group->second);
    }
    return std::ranges::all_of(placed, std::identity());
  }

  // Takes equally long in all groups, and holds the same.
  bool Alike(const trace::Node& node, const Firsts& firsts) const {
    const auto of = [&](const std::vector<uint32_t>& members) {
      return std::tuple(time_of_(node, members), options_.held ? options_.held(node, members) : 1,
                        options_.memory_share ? options_.memory_share(node, members) : 0);
    };
    const auto first = of(*firsts.front());
    return std::ranges::all_of(firsts, [&](const auto* members) { return of(*members) == first; });
  }

  const trace::TraceGraph& trace_;
  const CommunicationTime& time_of_;
  const AnalyticalOptions& options_;
  bool many_;
  std::map<uint32_t, Firsts> firsts_;  // the groups, by their place in the ranks' lists
};

}  // namespace hespas::simulate
