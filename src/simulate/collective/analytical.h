// The analytical collective model: collectives and messages have a given time (a calibrated network), without packets.
//
// - A rank computes one node at a time, lowest id first. It has one collective in flight, or one message in each
//   direction (links are full duplex: a ring shift costs one hop), in the order in which they can start. Collectives
//   that hold nothing in common (`AnalyticalOptions::held`) run at the same time. With `share_links` those of one group
//   queue, and others advance at once, at their fair part of what they hold in common.
// - A collective in the stream of the computation (trace/asynchronous.h) holds the compute unit, whatever `held` says.
// - The k-th collective of a group at each member belong together; it starts when the last member is there.
// - Ranks of one program are equivalent and are simulated once. What cannot finish is an error that names node and NPU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// Time of a collective among `members`, or of a message from the first to the second.
using CommunicationTime = std::function<Time(const trace::Node& node, std::span<const uint32_t> members)>;
// What it keeps others of its ranks from, as bits. One that holds the compute unit runs in its order, like a kernel.
inline constexpr uint32_t kHoldsCompute = 1u << 31;
using CommunicationHold = std::function<uint32_t(const trace::Node& node, std::span<const uint32_t> members)>;

// Of what a device has, what it takes while it is in flight.
using CommunicationShare = std::function<double(const trace::Node& node, std::span<const uint32_t> members)>;

// Who waits for whom in each program of a trace; holds for every trace of the same nodes, whatever their durations.
struct AnalyticalPlan {
  struct Program {
    std::vector<uint32_t> first_user;  // of each node, into `users`; one more at the end
    std::vector<uint32_t> users;       // positions of the nodes that wait
    std::vector<uint32_t> waits;       // dependencies of each
    std::vector<uint32_t> ordinal;     // of a collective in its group, or of a message to its peer
  };
  std::vector<Program> programs;
};

Result<AnalyticalPlan> PlanAnalytical(const trace::TraceGraph& trace);

struct AnalyticalOptions {
  const AnalyticalPlan* plan = nullptr;  // of this trace, where it was made before
  bool record_nodes = true;              // SimResult::intervals; always where loops are to be repeated
  CommunicationHold held;                // none: all collectives of a rank queue
  std::vector<double> compute_scale;     // factor on compute durations of each rank; ranks without one: 1
  double units_beside = 1;               // of a device's multiprocessors, that a collective leaves to kernels
  CommunicationShare memory_share;       // of the memory's bandwidth, that a collective takes from kernels; none: 0
  BytesPerSecond memory_bandwidth;       // of a device, where `memory_share` counts
  bool share_links = false;              // collectives of different groups share what they hold, and do not queue
};

Result<result::SimResult> SimulateAnalytical(const trace::TraceGraph& trace, const CommunicationTime& time_of,
                                             const AnalyticalOptions& options = {});

}  // namespace hespas::simulate
