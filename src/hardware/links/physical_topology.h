// What a network is built of, where it is not the logical dimensions themselves: for engines that route packets or
// flows (SimGrid, SST).
//
// - Hosts are numbered 0 .. hosts()-1; ranks are placed on them by rank_mapping.h.
// - All links are equal: bandwidth in GB/s of 2^30 bytes, latency in ns, both for one direction of one link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hardware/links/link_graph.h"
#include "hardware/system.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadTopology{
    "E0831",
    "A physical topology is not of a known kind, has impossible sizes, or has fewer hosts than the system has NPUs.",
    Outcome::kUsage};

enum class TopologyKind : uint8_t { kDimensions, kSwitch, kTorus, kFatTree, kDragonfly, kHyperX };

struct PhysicalTopology {
  TopologyKind kind = TopologyKind::kDimensions;
  // Switch: hosts. Torus, hyperx: extents. Dragonfly: hosts of a router, routers of a group, groups. Fat tree: what
  // hangs below a switch of each level, from the hosts up.
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> uplinks;  // fat tree: of a switch of each level but the top
  uint32_t hosts_per_router = 1;  // hyperx
  double bandwidth = 0;
  double latency = 0;

  uint64_t hosts() const;
};

// "switch", "ring", "torus:4x4x2", "hyperx:4x4" or "hyperx:4x4:2" (hosts of a router), "fat-tree:8,4:8" (levels as
// DOWN,UP, the top as DOWN), "dragonfly:4,4,2" (hosts of a router, routers of a group, groups). The links are those of
// the system's first dimension.
Result<PhysicalTopology> ParseTopology(std::string_view text, const System& system);

// The one that the dimensions of network.yml represent: one switch, rings of equal links as a torus, otherwise
// kDimensions.
PhysicalTopology TopologyOf(const System& system);

// Dragonfly and hyperx: routers with their hosts, all routers of a group (a row) joined, each pair of groups by one
// link.
LinkGraph LinkGraphOf(const PhysicalTopology& topology);

}  // namespace hespas::hardware
