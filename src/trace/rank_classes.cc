#include "trace/rank_classes.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace hespas::trace {
namespace {

bool HasGroup(const Node& node) { return node.kind == NodeKind::kCollective && node.group != 0; }

bool HasPeer(const Node& node) { return IsMessage(node.kind) && node.peer >= 0; }

// Puts places, numbered as they first appear, for the numbers of `program`; returns the numbers.
Arguments Abstract(Program& program) {
  Arguments arguments;
  std::unordered_map<uint32_t, uint32_t> place_of_group;
  std::unordered_map<int32_t, int32_t> place_of_peer;
  for (Node& node : program.nodes) {
    node.per_rank = HasGroup(node) || HasPeer(node);
    if (HasGroup(node)) {
      const auto [at, added] = place_of_group.try_emplace(node.group, place_of_group.size());
      if (added) arguments.groups.push_back(node.group);
      node.group = at->second;
    } else if (HasPeer(node)) {
      const auto [at, added] = place_of_peer.try_emplace(node.peer, place_of_peer.size());
      if (added) arguments.peers.push_back(node.peer);
      node.peer = at->second;
    }
  }
  return arguments;
}

void WriteOut(Program& program, const Arguments& arguments) {
  for (Node& node : program.nodes) {
    if (!node.per_rank) continue;
    node.per_rank = false;
    if (node.kind == NodeKind::kCollective) {
      node.group = arguments.groups[node.group];
    } else {
      node.peer = arguments.peers[static_cast<size_t>(node.peer)];
    }
  }
}

std::span<const uint64_t> DependenciesOf(const Program& program, const Node& node) {
  return std::span(program.dependencies).subspan(node.first_dependency, node.dependency_count);
}

auto Fields(const Node& node) {
  return std::tie(node.id, node.kind, node.collective, node.is_cpu, node.per_rank, node.duration.value, node.size.value,
                  node.group, node.peer, node.tag, node.dependency_count, node.control_dependency_count, node.block);
}

bool Equal(const Program& a, const Program& b) {
  return std::ranges::equal(a.nodes, b.nodes, [&](const Node& x, const Node& y) {
    if (std::strcmp(x.name, y.name) != 0 || a.DetailsOf(x) != b.DetailsOf(y)) return false;
    return Fields(x) == Fields(y) && std::ranges::equal(DependenciesOf(a, x), DependenciesOf(b, y));
  });
}

// Programs that are equal have equal hashes; the fields that tell most programs apart are enough.
Hash128 HashOf(const Program& program) {
  Hash128 hash{.low = program.nodes.size(), .high = program.dependencies.size()};
  for (const Node& node : program.nodes) {
    hash = Combine(hash, node.id << 8 | static_cast<uint64_t>(node.kind));
    hash = Combine(hash, static_cast<uint64_t>(node.duration.value ^ node.size.value));
    hash = Combine(hash, uint64_t{node.group} << 32 | static_cast<uint32_t>(node.peer));
  }
  return hash;
}

// False where two become the same.
template <class Number>
bool Rename(const std::map<Number, Number>& names, std::vector<Number>& numbers) {
  std::set<Number> seen;
  for (Number& number : numbers) {
    const auto found = names.find(number);
    if (found != names.end()) number = found->second;
    seen.insert(number);
  }
  return seen.size() == numbers.size();
}

}  // namespace

void RankClasses::Add(Program program) {
  trace_.arguments.push_back(Abstract(program));
  std::vector<uint32_t>& candidates = known_[HashOf(program)];
  for (const uint32_t at : candidates) {
    if (!Equal(trace_.programs[at], program)) continue;
    trace_.program_of_rank.push_back(at);
    return;
  }
  candidates.push_back(static_cast<uint32_t>(trace_.programs.size()));
  trace_.program_of_rank.push_back(candidates.back());
  trace_.programs.push_back(std::move(program));
}

bool RankClasses::AddLike(uint32_t rank, const Renaming& renaming) {
  Arguments arguments = trace_.arguments[rank];
  if (!Rename(renaming.groups, arguments.groups) || !Rename(renaming.peers, arguments.peers)) return false;
  trace_.arguments.push_back(std::move(arguments));
  trace_.program_of_rank.push_back(trace_.program_of_rank[rank]);
  return true;
}

TraceGraph RankClasses::Take() {
  std::vector<const Arguments*> common(trace_.programs.size(), nullptr);
  std::vector<bool> differ(trace_.programs.size(), false);
  for (uint32_t rank = 0; rank < trace_.program_of_rank.size(); ++rank) {
    const uint32_t program = trace_.program_of_rank[rank];
    if (common[program] == nullptr) common[program] = &trace_.arguments[rank];
    if (*common[program] != trace_.arguments[rank]) differ[program] = true;
  }
  for (size_t i = 0; i < common.size(); ++i) {
    if (!differ[i]) WriteOut(trace_.programs[i], *common[i]);
  }
  for (uint32_t rank = 0; rank < trace_.program_of_rank.size(); ++rank) {
    if (!differ[trace_.program_of_rank[rank]]) trace_.arguments[rank] = {};
  }
  if (std::ranges::find(differ, true) == differ.end()) trace_.arguments.clear();
  known_.clear();
  return std::exchange(trace_, {});
}

}  // namespace hespas::trace
