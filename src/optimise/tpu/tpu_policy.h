// XLA's TPU compiler.
#pragma once

#include "optimise/fusion/policy.h"

namespace hespas::optimise {

const CompilerPolicy& TpuPolicy();

}  // namespace hespas::optimise
