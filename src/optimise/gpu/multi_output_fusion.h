// XLA's multi-output fusion on GPUs: siblings, and producers with their consumers.
#pragma once

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {

void FuseMultiOutputOnGpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan);

}  // namespace hespas::optimise
