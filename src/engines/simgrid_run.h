// Runs traces over SimGrid's flows (`--network-backend simgrid`), or writes what `smpirun` would replay.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/system.h"
#include "result/sim_result.h"
#include "simulate/simulate.h"
#include "trace/trace_graph.h"

namespace hespas::engines {

// The network that engines of flows and packets build, where it is not the system's dimensions.
struct PhysicalNetwork {
  std::string topology;            // of hardware::ParseTopology; empty: what the system's dimensions represent
  std::string mapping = "linear";  // of hardware::MapRanks
  std::string write_only;          // folder: nothing is simulated, the files are written there
};

struct SimGridOptions {
  PhysicalNetwork network;
  std::string platform;               // path of a SimGrid platform file, in place of a topology
  std::vector<std::string> settings;  // SimGrid's own, KEY:VALUE
};

// Writes platform.xml, hosts.txt, traces.txt, rank.N.txt and run.sh (`smpirun -replay`) into network.write_only.
Status WriteSmpi(const trace::TraceGraph& trace, const hardware::System& system,
                 const simulate::SimulateOptions& options, const SimGridOptions& simgrid);

// A graph of links among the simulation's options is the network where neither a platform nor a topology is given.
Result<result::SimResult> RunSimGrid(const trace::TraceGraph& trace, const hardware::System& system,
                                     const simulate::SimulateOptions& options, const SimGridOptions& simgrid);

}  // namespace hespas::engines
