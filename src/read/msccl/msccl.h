// Reads MSCCL-IR and TACOS XML schedules of collectives into collective graphs (spec astra-sim sections 9.4, 9.5).
//
// - Every GPU's steps become send, receive and compute (reduction) nodes with the dependencies of its thread blocks.
// - Fused steps (rcs, rrs, rrcs) become several nodes; copies inside a GPU matter only where another step waits for
// them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::read::msccl {

inline constexpr DiagnosticKind kBadSchedule{
    "E0630",
    "An MSCCL-IR or TACOS schedule is not well-formed XML, or has a step that does not fit its GPU or thread block."};

struct Schedule {
  std::string name;
  std::string collective;  // "allreduce", "allgather", ...
  trace::CollectiveGraph graph;
};

// `size`: bytes of the collective, for all-gather the contribution of each rank; 0: messages are stated as parts of it
// (Node::chunks of total_chunks) and reductions take no time. `file` is named in messages.
Result<Schedule> ReadSchedule(std::string_view xml, const std::string& file, Bytes size);

}  // namespace hespas::read::msccl
