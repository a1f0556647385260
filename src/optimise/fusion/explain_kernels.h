// Why each op went into the kernel it is in, and why its neighbours were not fused.
#pragma once

#include <vector>

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {

// `plan` with its reasons, before anything is rewritten.
void ExplainKernels(const Dataflow& flow, const KernelPlan& plan, std::vector<Explanation>& out);

}  // namespace hespas::optimise
