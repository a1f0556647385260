// Reductions that XLA emits as plain loops over their results (IsReductionFromOrToContiguousDimensions and
// IsUnnestedReductionFasterThanElemental of xla/service/gpu/reduction_utils.cc).
#pragma once

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// Few rows or columns, short ones, or dimensions that lie apart: no emitter of reductions is worthwhile.
bool ReducesInLoop(const Dataflow& flow, const Node& reduce);

}  // namespace hespas::optimise
