// Collectives that computation runs beside, whatever their kind (ir/facts/execution/asynchronous.h).
#pragma once

#include <cstdint>

#include "trace/trace_graph.h"

namespace hespas::trace {

// `tag` of such a node
inline constexpr int32_t kAsynchronous = 1;
inline constexpr int32_t kOnSparseCores = 2;    // within a slice of a TPU
inline constexpr int32_t kOnTensorCores = 3;    // of a TPU whose SparseCores carry it unless told otherwise
inline constexpr int32_t kInComputeStream = 4;  // all computation behind it waits, on any device

// Messages have a channel as their tag.
constexpr bool IsInComputeStream(const Node& node) {
  return node.kind == NodeKind::kCollective && node.tag == kInComputeStream;
}

}  // namespace hespas::trace
