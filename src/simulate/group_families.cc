#include "simulate/group_families.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace hespas::simulate {

using hardware::AlgorithmKind;
using trace::Node;
using trace::TraceGraph;

namespace {

constexpr uint64_t kMostPairs = 20'000'000;  // that are worth a look

// What decides how long a message takes: the dimension that it crosses, and the hops there.
std::pair<size_t, uint32_t> Distance(const hardware::System& system, uint32_t from, uint32_t to) {
  size_t d = 0;
  for (; d + 1 < system.dimensions.size() && from % system.dimensions[d].npus == to % system.dimensions[d].npus; ++d) {
    from /= system.dimensions[d].npus;
    to /= system.dimensions[d].npus;
  }
  if (system.dimensions[d].kind != hardware::DimensionKind::kRing) return {d, 0};
  const uint32_t n = system.dimensions[d].npus;
  const uint32_t clockwise = (to % n + n - from % n) % n;
  return {d, std::min(clockwise, n - clockwise)};
}

// Fills group_of and position; false if the groups do not hold each rank once.
bool Place(const TraceGraph& trace, const std::vector<uint32_t>& group_of_rank, GroupFamily& family) {
  const auto ranks = static_cast<uint32_t>(group_of_rank.size());
  family.group_of.assign(ranks, nullptr);
  family.position.assign(ranks, 0);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const auto group = trace.groups.find(group_of_rank[rank]);
    if (group == trace.groups.end()) return false;
    if (group->second.empty() || group->second[0] != rank) continue;  // its first member speaks for the group
    for (uint32_t i = 0; i < group->second.size(); ++i) {
      const uint32_t member = group->second[i];
      if (member >= ranks || family.group_of[member] != nullptr || group_of_rank[member] != group_of_rank[rank]) {
        return false;
      }
      family.group_of[member] = &group->second;
      family.position[member] = i;
    }
  }
  return std::all_of(family.group_of.begin(), family.group_of.end(), [&](const std::vector<uint32_t>* group) {
    return group != nullptr && group->size() == family.group_of[0]->size() && group->size() > 1;
  });
}

// Rings only ever send one place on.
bool OnlyRings(const hardware::System& system) {
  return std::all_of(system.collectives.begin(), system.collectives.end(), [](const auto& collective) {
    return !collective.algorithms || collective.algorithms->size() != 1 ||
           (*collective.algorithms)[0].kind == AlgorithmKind::kRing;
  });
}

// Sorts the numbers of places into classes of equal distance; empty if ranks differ, otherwise why not.
std::string Classify(const hardware::System& system, GroupFamily& family) {
  const uint32_t size = family.size();
  const uint32_t last = OnlyRings(system) ? 1 : size - 1;
  if (uint64_t{last} * family.group_of.size() > kMostPairs) return "groups are too large to compare their distances";
  std::map<std::pair<size_t, uint32_t>, uint32_t> classes;
  family.class_of_steps.assign(size, 0);
  for (uint32_t steps = 1; steps <= last; ++steps) {
    std::optional<std::pair<size_t, uint32_t>> common;
    for (uint32_t rank = 0; rank < family.group_of.size(); ++rank) {
      const auto distance = Distance(system, rank, (*family.group_of[rank])[(family.position[rank] + steps) % size]);
      if (!common) common = distance;
      if (*common != distance) return "members of groups are at unequal distances";
    }
    family.class_of_steps[steps] =
        classes.try_emplace(*common, static_cast<uint32_t>(classes.size()) + 1).first->second;
  }
  if (classes.size() == 1) family.class_of_steps.assign(size, 0);
  return {};
}

}  // namespace

std::string FindFamilies(const TraceGraph& trace, const hardware::System& system, GroupFamilies& out) {
  const auto ranks = static_cast<uint32_t>(system.npus());
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (trace.program_of_rank[rank] != trace.program_of_rank[0]) return "ranks run different programs";
  }
  std::set<uint32_t> seen;  // groups of rank 0
  for (const Node& node : trace.ProgramOf(0).nodes) {
    const uint32_t group = trace.GroupOf(0, node);
    if (group == 0 || !seen.insert(group).second) continue;
    std::vector<uint32_t> group_of_rank(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) group_of_rank[rank] = trace.GroupOf(rank, node);
    GroupFamily family;
    if (!Place(trace, group_of_rank, family)) return "groups are of unequal size or do not hold every rank once";
    if (family.size() == ranks) continue;  // runs as a collective of all
    if (std::string why = Classify(system, family); !why.empty()) return why;
    out.family_of[group] = static_cast<uint32_t>(out.families.size());
    out.families.push_back(std::move(family));
  }
  return {};
}

}  // namespace hespas::simulate
