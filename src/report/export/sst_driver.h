// The Python program that SST runs: Merlin's routers and one `hespas.endpoint` for each NPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/links/physical_topology.h"
#include "hardware/system.h"

namespace hespas::report {

inline constexpr DiagnosticKind kNotForMerlin{
    "E0965",
    "The dimensions of the network are none of what Merlin has topologies for. Name one with "
    "--physical-topology.",
    Outcome::kUnsupported};

struct MerlinNetwork {
  hardware::PhysicalTopology topology;
  bool hosts_are_routers = false;  // links of the dimensions join NPUs: the way to one's own router takes no time
};

// What the dimensions represent in Merlin: one switch a single router, rings a torus, full connections a hyperx,
// switches of switches a fat tree (uplinks for the bandwidth of the dimension above), a switch below two full
// connections a dragonfly. Links are those of the first dimension.
Result<MerlinNetwork> MerlinNetworkOf(const hardware::System& system);

// `folder` holds run.json; rank i is endpoint hosts[i].
std::string SstDriver(const MerlinNetwork& network, const std::string& folder, const std::vector<uint32_t>& hosts);

}  // namespace hespas::report
