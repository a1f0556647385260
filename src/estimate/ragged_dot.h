// A ragged dot as a matmul for each group: C[group, m, n] = sum over k, where one of m, k and the batch is ragged.
//
// - Whether the forward matmul (rows ragged), the weights' gradient (the contraction ragged) or a ragged batch; from
//   StableHLO, CHLO, a call of `mhlo.ragged_dot`, or HLO.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace hespas::estimate {

struct RaggedDot {
  int64_t groups = 1;
  int64_t m = 1, n = 1, k = 1;  // of the mean group; m or k rounded up
  int64_t multiply_adds = 0;    // of all groups
  int64_t ragged_rows = 1;      // extent of the ragged dimension
};

// Nothing where `op` is no ragged dot.
std::optional<RaggedDot> RaggedDotOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
