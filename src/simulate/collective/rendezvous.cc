#include "simulate/collective/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "simulate/simulate.h"

namespace hespas::simulate {

using trace::NodeKind;

RendezvousTable::RendezvousTable(const trace::TraceGraph& trace) : trace_(trace), all_(trace.program_of_rank.size()) {
  std::iota(all_.begin(), all_.end(), 0u);
}

std::span<const uint32_t> RendezvousTable::Members(uint32_t rank, const trace::Node& node) const {
  const auto group = trace_.groups.find(trace_.GroupOf(rank, node));
  return group == trace_.groups.end() ? std::span<const uint32_t>(all_) : group->second;
}

RendezvousKey RendezvousTable::KeyOf(uint32_t rank, const trace::Node& node, uint32_t ordinal) const {
  if (node.kind == NodeKind::kCollective) return {true, trace_.GroupOf(rank, node), 0, 0, ordinal};
  const bool send = node.kind == NodeKind::kSend;
  const auto self = static_cast<int64_t>(rank);
  const int64_t peer = trace_.PeerOf(rank, node);
  return {false, static_cast<uint32_t>(send ? self : peer), send ? peer : self, node.tag, ordinal};
}

const Rendezvous* RendezvousTable::Arrive(uint32_t rank, uint32_t position, uint32_t ordinal, uint64_t now) {
  const trace::Node& node = trace_.ProgramOf(rank).nodes[position];
  Rendezvous& rendezvous = by_key_[KeyOf(rank, node, ordinal)];
  rendezvous.here.emplace_back(rank, position);
  rendezvous.ready = std::max(rendezvous.ready, now);
  const size_t expected = node.kind == NodeKind::kCollective ? Members(rank, node).size() : 2;
  return rendezvous.here.size() < expected ? nullptr : &rendezvous;
}

std::optional<Error> RendezvousTable::Incomplete() const {
  for (const auto& [key, rendezvous] : by_key_) {
    const auto [rank, position] = rendezvous.here.front();
    const trace::Node& node = trace_.ProgramOf(rank).nodes[position];
    const size_t expected = std::get<0>(key) ? Members(rank, node).size() : 2;
    if (rendezvous.here.size() == expected) continue;
    const size_t missing = expected - rendezvous.here.size();
    return MakeError(kNeverFinishes, fmt::format("node {} of NPU {} waits for {} that never come{}", node.id, rank,
                                                 missing == 1 ? "a partner" : "partners", missing == 1 ? "s" : ""));
  }
  return std::nullopt;
}

}  // namespace hespas::simulate
