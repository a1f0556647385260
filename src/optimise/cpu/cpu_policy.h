// XLA's CPU compiler.
#pragma once

#include "optimise/fusion/policy.h"

namespace hespas::optimise {

const CompilerPolicy& CpuPolicy();

}  // namespace hespas::optimise
