// Lane instructions of elementwise work: evaluations of each op times its weight (spec step-time section 2).
//
// - A fused op is evaluated as often as its users need it: below a broadcast at the broadcast's size, below a reduction
//   at the reduction's input.
// - In a fusion that reduces and returns rows, and in one that Triton compiles tile by tile, an op is evaluated once
// for
//   each element of its own: a tile holds whole rows, and a row's reduction is made once.
#pragma once

#include "estimate/calibrated/kernel.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

// Of one op outside any fusion.
Instructions OpInstructions(const ir::Module& module, ir::OpId op);

Instructions FusionInstructions(const ir::Module& module, ir::OpId fusion);

}  // namespace hespas::estimate::calibrated
