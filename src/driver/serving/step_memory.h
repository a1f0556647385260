// What a server's step holds at its widest point, by the memory stage: the step is a program like any other.
#pragma once

#include <span>

#include "serve/model/kernels.h"

namespace hespas::driver {

// Bytes beside weights and cache, in the order in which the kernels are launched.
double PeakOfStep(std::span<const serve::StepOp> step);

}  // namespace hespas::driver
