// From the simulation of some iterations of a loop to all of them (TraceGraph::loops).
//
// - Once a loop has come into step, each iteration takes the same time: the window of repeated iterations is stretched
//   over those that were omitted, on every rank from its own first communication of the window to that behind it.
// - What a rank computes and communicates counts as often as it is executed. Computation that ran ahead of the window
//   fills the time in which the rank waits.
#pragma once

#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// Rewrites the ranks and intervals of a run that recorded its nodes; sets `loop_drift`.
void RepeatLoops(const trace::TraceGraph& trace, result::SimResult& result);

}  // namespace hespas::simulate
