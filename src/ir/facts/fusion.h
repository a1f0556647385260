// What a fusion holds.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hespas::ir {

// The body of a fusion, held as a region or called by symbol; invalid where there is none.
BlockId FusionBody(const Module& module, OpId fusion);

// The ops of a fusion's body and of fusions within it, in program order; bodies of reductions are not entered.
std::vector<OpId> FusedOps(const Module& module, OpId fusion);

// Whether XLA compiles the fusion by Triton, tile by tile ("kind":"__triton", "__triton_gemm",
// "__triton_nested_gemm_fusion", "__triton_softmax", ... in its backend_config).
bool IsTritonFusion(const Module& module, OpId fusion);

// What an op writes into its first operand, where XLA's emitters do so in place: of a dynamic-update-slice, and of a
// scatter into one array. Invalid for other ops.
ValueId UpdateOf(const Module& module, OpId op);

}  // namespace hespas::ir
