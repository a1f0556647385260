// Multi-output fusion as of XLA's TPU compiler: what follows dots, and siblings.
#pragma once

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {

void FuseMultiOutputOnTpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan);

}  // namespace hespas::optimise
