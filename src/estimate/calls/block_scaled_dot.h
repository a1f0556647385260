// XLA's matmul of two operands with a scale for every few elements of the contraction (`__op$block_scaled_dot`).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/module.h"

namespace hespas::estimate {

// out[m,n] = lhs[m,k] rhs[n,k]^T, in each of a batch.
struct BlockScaledDot {
  int64_t flops = 0;
  double batch = 1, m = 1, n = 1, k = 1;
  // "mxfp8" or "nvfp4", which cuDNN's kernels multiply as they are; else empty, and dequantised values are multiplied.
  std::string_view format;
  double weight_bytes = 0;  // of an element of the right operand, with its part of a scale
};

// Nothing where the call is no such dot.
std::optional<BlockScaledDot> BlockScaledDotOf(const ir::Module& module, ir::OpId op, std::string_view target);

}  // namespace hespas::estimate
