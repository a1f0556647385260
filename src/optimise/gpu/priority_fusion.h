// Priority fusion: which values are duplicated into their consumers, in the order in which XLA decides.
//
// - The highest benefit goes first; its neighbours are then re-evaluated.
// - Source: xla/service/gpu/transforms, priority_fusion.cc; times as in kernel_use.h and decisions.h.
#pragma once

#include <span>
#include <vector>

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {

// By node: 1 for those of the `open` ones that are not materialized. In `plan`, which is used up, all of them are
// materialized.
std::vector<char> FuseByPriority(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                                 std::span<const NodeId> open);

}  // namespace hespas::optimise
