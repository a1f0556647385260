// Traces as SMPI's time-independent traces, which `smpirun -replay` runs over any SimGrid platform.
//
// - A rank of SMPI does one thing at a time: nodes are in the order of their dependencies, equal ones by id, and
//   nothing overlaps. Sends go out at once; the last line waits for them.
// - Collectives of all ranks are SMPI's; those of groups, which its traces cannot name, are rings of messages (an
//   all-to-all: one message to each).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::report {

inline constexpr DiagnosticKind kNotForSmpi{
    "E0963",
    "A trace has a node that SMPI's time-independent traces have no action for (memory, or a collective other "
    "than all-reduce, all-gather, reduce-scatter, all-to-all, barrier), or its nodes wait for each other.",
    Outcome::kUnsupported};

// What lets SMPI's collectives run as rings, as options of smpirun; the platform's factors off.
inline constexpr const char* kSmpiSettings[] = {
    "network/model:CM02",   "network/TCP-gamma:0",           "network/crosstraffic:0",
    "surf/precision:1e-12", "smpi/simulate-computation:no",  "smpi/allreduce:lr",
    "smpi/allgather:NTSLR", "smpi/reduce_scatter:ompi_ring", "smpi/alltoall:ring"};

Result<std::string> SmpiTrace(const trace::TraceGraph& trace, uint32_t rank);

}  // namespace hespas::report
