// XLA's GPU compiler.
#pragma once

#include "optimise/fusion/policy.h"

namespace hespas::optimise {

const CompilerPolicy& GpuPolicy();

}  // namespace hespas::optimise
