// Which values each of their readers computes anew: the order in which XLA's priority fusion decides.
//
// - What saves most time goes first; what reads or makes it is then looked at again.
// - Source: xla/service/gpu/transforms, priority_fusion.cc; times as in kernel_use.h and decisions.h.
#pragma once

#include <span>
#include <vector>

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {

// By node: 1 for those of the `open` ones that are not stored. In `plan`, which is used up, all of them are stored.
std::vector<char> RepeatOnGpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                              std::span<const NodeId> open);

}  // namespace hespas::optimise
