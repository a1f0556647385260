// Fused attention kernels from their shapes and configuration: cuDNN's, Pallas's for GPU and TPU, splash attention.
//
// - Forward: two matmuls of scores x head size; backward five, or the three and four of kernels that make the
//   gradients of queries, or of keys and values, alone (Dao et al. 2022). Masked scores do not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/module.h"

namespace hespas::estimate {

struct Attention {
  int64_t flops = 0;
  int64_t exponentials = 0;  // one a score
  int64_t head = 0;          // size of a query's head
};

// Nothing where the call is no attention that is known.
std::optional<Attention> AttentionOf(const ir::Module& module, ir::OpId op, std::string_view target);

}  // namespace hespas::estimate
