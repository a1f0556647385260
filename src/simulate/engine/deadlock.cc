#include "simulate/engine/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace hespas::simulate {
namespace {

struct Wait {
  uint32_t node = 0;  // index in the rank's program
  MatchKey key;
};

// What each rank's receives wait for; the smallest (source, tag, size) of each rank, so that the answer is
// deterministic.
std::map<uint32_t, Wait> WaitsByRank(const Network& network, Workload& workload) {
  std::map<uint32_t, Wait> waits;
  network.EachWaiting([&](const MatchKey& key, Callback waiting) {
    const Callback callback = network.Served(waiting);
    if (callback.kind == CallbackKind::kNone) return;
    const bool own = callback.kind == CallbackKind::kNode;
    SystemLayer& layer = workload.system_layer();
    const uint32_t rank = own ? callback.owner : layer.stream(callback.owner).rank;
    const Wait wait{own ? callback.index : layer.NodeOf(callback.owner), key};
    const auto order = [](const MatchKey& k) { return std::tuple(k.source, k.tag, k.size); };
    const auto [at, added] = waits.try_emplace(rank, wait);
    if (!added && order(key) < order(at->second.key)) at->second = wait;
  });
  return waits;
}

std::string Name(const Workload& workload, uint32_t rank, uint32_t node) {
  const trace::Node& at = workload.program(rank).node(node);
  return fmt::format("NPU {}, node {}{}", rank, at.id, *at.name == 0 ? "" : fmt::format(" (`{}`)", at.name));
}

std::string Describe(const Workload& workload, uint32_t rank, const std::map<uint32_t, Wait>& waits) {
  if (const auto at = waits.find(rank); at != waits.end()) {
    const MatchKey& key = at->second.key;
    return fmt::format("{} waits for {} bytes with tag {} from NPU {}", Name(workload, rank, at->second.node), key.size,
                       key.tag, key.source);
  }
  if (workload.finished(rank)) return fmt::format("NPU {} has finished and sends nothing more", rank);
  const std::vector<uint32_t>& occupants = workload.Occupants(rank);
  if (!occupants.empty()) return fmt::format("{} is under way and nothing ends it", Name(workload, rank, occupants[0]));
  if (const auto node = workload.Unissued(rank)) {
    return fmt::format("{} is ready, but no completion on this NPU starts it (it follows a node that takes no time)",
                       Name(workload, rank, *node));
  }
  return fmt::format("NPU {} has nothing to do", rank);
}

// Follows the waiting from `rank` until an NPU that does not wait, or one seen before.
std::string Chain(const Workload& workload, uint32_t rank, const std::map<uint32_t, Wait>& waits) {
  constexpr size_t kLongest = 8;
  std::vector<uint32_t> seen{rank};
  std::string text = Describe(workload, rank, waits);
  for (auto at = waits.find(rank); at != waits.end() && seen.size() < kLongest; at = waits.find(rank)) {
    rank = at->second.key.source;
    if (std::find(seen.begin(), seen.end(), rank) != seen.end()) return text + fmt::format("; back at NPU {}", rank);
    seen.push_back(rank);
    text += "; " + Describe(workload, rank, waits);
  }
  return text;
}

}  // namespace

Error ExplainDeadlock(const Core& core, const Network& network, Workload& workload) {
  const std::map<uint32_t, Wait> waits = WaitsByRank(network, workload);
  uint32_t first = core.first_local;
  uint32_t unfinished = 0;
  for (uint32_t rank = core.first_local + core.locals; rank-- > core.first_local;) {
    if (workload.finished(rank)) continue;
    ++unfinished;
    first = rank;
  }
  if (core.orders) unfinished = core.ranks;  // one class
  std::string help = "check that every rank runs the same collectives in the same order and every receive has its send";
  std::optional<MatchKey> unreceived;
  network.matcher().EachUnreceived([&](const MatchKey& key, uint32_t) {
    const auto order = [](const MatchKey& k) { return std::tuple(k.source, k.destination, k.tag, k.size); };
    if (!unreceived || order(key) < order(*unreceived)) unreceived = key;
  });
  if (unreceived) {
    help += fmt::format("; never received: {} bytes with tag {} from NPU {} to NPU {}", unreceived->size,
                        unreceived->tag, unreceived->source, unreceived->destination);
  }
  return MakeError(kNeverFinishes,
                   fmt::format("{} of {} NPUs never finish: {}", unfinished, core.ranks, Chain(workload, first, waits)),
                   {}, help);
}

}  // namespace hespas::simulate
