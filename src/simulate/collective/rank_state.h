// What a rank does at the moment: the kernel on each of its units, and the collectives in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "simulate/collective/beside.h"
#include "simulate/collective/busy_times.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

inline bool Communicates(const trace::Node& node) {
  return node.kind == trace::NodeKind::kCollective || trace::IsMessage(node.kind);
}

struct LinkPorts {
  uint64_t send_free = 0;  // ports are full duplex; a collective takes both directions
  uint64_t receive_free = 0;
};

// Runs one node at a time.
struct ComputeUnit {
  // Those that run first, then by position.
  using Place = std::pair<bool, uint32_t>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
  bool busy = false;
  uint32_t node = 0;  // that runs
  uint64_t start = 0, work = 0, end = 0;
  KernelNeeds needs;
  size_t interval = 0;  // its record
};

struct RankState {
  std::vector<uint32_t> waits;
  ComputeUnit compute;
  std::vector<uint32_t> holding;  // collectives that hold the compute unit, in program order: all ranks take them so,
  size_t held = 0;                // lest two wait for each other; those that began
  std::set<uint32_t> early;       // ready before their turn
  ComputeUnit host;               // copies to and from the host's memory, and its own work
  std::vector<LinkPorts> ports;   // by what collectives hold
  std::vector<Beside> beside;     // collectives that have not ended, in order of begin
  std::map<uint32_t, uint64_t> in_flight;  // node position -> transfer that shares links
  size_t done = 0;
  BusyTimes times;
};

}  // namespace hespas::simulate
