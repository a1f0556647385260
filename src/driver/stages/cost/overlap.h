// The perfect overlap of a what-if: computation and communication never wait for each other.
#pragma once

#include "trace/trace_graph.h"

namespace hespas::driver {

// Drops every dependency between a computation and a communication, so that each kind runs at its own pace.
void SeparateCommunication(trace::TraceGraph& traces);

}  // namespace hespas::driver
