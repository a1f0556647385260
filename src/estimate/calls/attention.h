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
  // Of cuDNN's calls, whose layout tells them; else there are no queries.
  double batch = 0, queries = 0, keys = 0;
  double heads = 0, key_heads = 0;
  double window = 0;  // keys that a query sees at most; 0: all
  bool causal = false;
  bool backward = false;
  bool f8 = false;
};

// Nothing where the call is no attention that is known.
std::optional<Attention> AttentionOf(const ir::Module& module, ir::OpId op, std::string_view target);

}  // namespace hespas::estimate
