// What a simulation's node intervals say: the critical path, and which collectives are exposed and what they waited
// for.
//
// - The path runs backwards from the last end: from a collective to the member that came last, from any node to the
//   dependency or the node before it in its slot that ended when it began.
// - Exposed time of a collective on a rank is the part of its interval during which the rank computes nothing; the part
//   before the last member came is waiting.
#pragma once

#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// Fills `critical_path` and `collectives` of `result` from its `intervals`.
void ExplainIntervals(const trace::TraceGraph& trace, result::SimResult& result);

}  // namespace hespas::simulate
