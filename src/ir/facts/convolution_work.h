// How many multiply-adds a convolution does.
#pragma once

#include <cstdint>

#include "ir/module.h"

namespace hespas::ir {

// Multiply-adds of a convolution, saturating; 0 where its dimensions cannot be read. The zeros of base dilation do not
// count; padding does, since kernels multiply it, up to what each input element can take part in (XLA's TPU compiler
// writes batched matmuls as convolutions over little else than padding).
int64_t ConvolutionMultiplyAdds(const Module& module, OpId op);

}  // namespace hespas::ir
