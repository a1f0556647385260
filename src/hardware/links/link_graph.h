// A network as a graph of devices and directed links, for topologies that rings, full connections and switches cannot
// say.
//
// - Devices 0 .. npus-1 are NPUs, the others switches. Bandwidth in GB/s of 2^30 bytes, latency in ns.
// - A file is one JSON object {"npus": 4, "switches": 1, "links": [{"from": 0, "to": 4, "bandwidth": 50, "latency":
// 500,
//   "both_ways": true}, ...]}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/system.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadLinkGraph{
    "E0830", "A topology file is not a JSON object with npus, switches and links between devices that exist."};

struct GraphLink {
  uint32_t from = 0;
  uint32_t to = 0;
  double bandwidth = 0;
  double latency = 0;
};

struct LinkGraph {
  uint32_t npus = 0;
  uint32_t devices = 0;
  std::vector<GraphLink> links;
};

Result<LinkGraph> ReadLinkGraph(const std::string& path);

// The links of the system's dimensions: rings, full connections, switches (a device of its own each).
LinkGraph LinkGraphOf(const System& system);

}  // namespace hespas::hardware
