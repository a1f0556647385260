// Simulates traces whose collectives and messages have a given time (a calibrated network), without single packets.
//
// - A rank computes one node at a time, lowest id first, and has one collective or message in flight, in the order in
//   which they can start.
// - The k-th collective of a group at each member belong together; it starts when the last member is there.
// - Ranks of one program are alike and are simulated once. What cannot finish is an error that names node and NPU.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// Time of a collective among `members`, or of a message from the first to the second.
using CommunicationTime = std::function<Time(const trace::Node& node, std::span<const uint32_t> members)>;

Result<result::SimResult> SimulateTimed(const trace::TraceGraph& trace, const CommunicationTime& time_of);

}  // namespace hespas::simulate
