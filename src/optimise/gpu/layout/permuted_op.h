// Ops whose attributes go by dimension.
#pragma once

#include "optimise/dataflow/dataflow.h"
#include "optimise/gpu/layout/layout.h"

namespace hespas::optimise {

// Changes the attributes of a slice, pad, concatenation, reversal or window, and the offsets of a dynamic slice, to
// those of the same op on arrays whose dimensions come in the layout's order. False where one is not as expected.
bool PermuteOp(const Dataflow& flow, Node& node, const Layout& layout);

}  // namespace hespas::optimise
