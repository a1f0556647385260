// Set "field kernels": matmuls, attention and layers of experts as inference libraries run them inside CUDA graphs
// (estimate/field).
#pragma once

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

// With the shipped constants.
bool AddFieldKernels(Groups& groups, Diagnostics& diagnostics);

}  // namespace hespas::validate
