// Matmuls of rows in groups (ragged_dot), which compilers without a kernel for them refuse, as dense matmuls.
#pragma once

#include "ir/module.h"

namespace hespas::estimate {

// Replaces each ragged_dot of the program, as JAX does for processors and XLA for GPUs: the rows of each group stand,
// zeros around them, in a copy of their own, and one matmul takes all. Those with several lists of group sizes, or of
// dynamic shape, stay.
void ExpandRaggedMatmuls(ir::Module& module);

}  // namespace hespas::estimate
