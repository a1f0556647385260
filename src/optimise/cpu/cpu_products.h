// Kernels of products with the transposes that XLA's CPU compiler leaves to them.
#pragma once

#include "optimise/dataflow/pass.h"

namespace hespas::optimise {

// Puts each product with the transposes next to it, of rows for columns, into one fusion; before loops are formed.
void FormProductsOnCpu(Dataflow& flow, PassContext& context);

}  // namespace hespas::optimise
