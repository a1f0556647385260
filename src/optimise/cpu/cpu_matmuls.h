// Kernels of matmuls with the transposes that XLA's CPU compiler leaves to them.
#pragma once

#include "optimise/dataflow/pass.h"

namespace hespas::optimise {

// Puts each matmul with the transposes next to it, of rows for columns, into one fusion; before loops are formed.
void FormMatmulsOnCpu(Dataflow& flow, PassContext& context);

}  // namespace hespas::optimise
