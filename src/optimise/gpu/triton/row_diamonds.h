// Where XLA keeps whole rows in one Triton kernel, from a reduction of each row to what is made of the row with it: the
// two steps of a softmax, and norms.
//
// Source: xla/service/gpu/transforms/softmax_rewriter_triton.cc, in our words in docs/spec/xla-gpu.md.
#pragma once

#include <vector>

#include "optimise/fusion/policy.h"

namespace hespas::optimise {

// By node; empty where there are none.
std::vector<RowRole> FindRowDiamonds(const Dataflow& flow, bool is_main);

// Whether Triton computes an op in tiles, as part of a kernel that holds whole rows.
bool IsTiledByTriton(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
