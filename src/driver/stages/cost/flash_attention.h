// The flash attention of a what-if: scores between queries and keys never leave the chip.
//
// - A score tensor is the result of a batched matmul that is larger than both operands, or made elementwise from one.
// - Blocks lose the traffic of the score tensors they read and write. Matmuls keep their arithmetic; what stands
// between
//   them becomes part of their kernels and keeps only the time of its other traffic.
// - Only blocks of one operation are looked at (the individual split); recomputation in the backward pass is not added.
#pragma once

#include "driver/stages/estimate.h"

namespace hespas::driver {

// `device`: whose estimates these are; in sweeps not the prepared one's.
void ApplyFlashAttention(const Prepared& prepared, const hardware::Device& device, Estimated& estimated);

}  // namespace hespas::driver
