// A network as a SimGrid platform file (DTD 4.1), for the engine in this process and for `smpirun`.
//
// - Hosts are "node-0", "node-1", ...; every link is one for each direction.
#pragma once

#include <string>
#include <vector>

#include "hardware/links/link_graph.h"
#include "hardware/links/physical_topology.h"
#include "hardware/system.h"

namespace hespas::report {

// kDimensions: the links of the system's dimensions, routes by the fewest hops through NPUs and switches.
std::string SimGridPlatform(const hardware::PhysicalTopology& topology, const hardware::System& system);
std::string SimGridPlatform(const hardware::LinkGraph& graph);

// The names of hosts 0 .. hosts-1.
std::vector<std::string> HostNames(uint64_t hosts);

}  // namespace hespas::report
