// A ragged dot as a matmul for each group: C[group, m, n] = sum over k, where one of m, k and the batch is ragged.
//
// - Whether the forward matmul (rows ragged), the weights' gradient (the contraction ragged) or a ragged batch; from
//   StableHLO, CHLO, a call of `mhlo.ragged_dot`, or HLO.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace hespas::estimate {

// Extents of the blocks in which a kernel such as megablox multiplies, as the program tells them (`ragged_dot_tiling`).
struct Tiling {
  int64_t m = 1, k = 1, n = 1;
};

struct RaggedDot {
  int64_t groups = 1;
  int64_t m = 1, n = 1, k = 1;  // of the mean group; m or k rounded up
  int64_t multiply_adds = 0;    // of all groups
  int64_t ragged_rows = 1;      // extent of the ragged dimension
  bool sums_groups = false;     // the contraction is ragged, as of the weights' gradient
  std::optional<Tiling> tiling;

  // What the kernel multiplies over what the dot needs: blocks at the ends of k and n are computed whole, and a block
  // of rows that two groups share once for each.
  double Padding() const;
  // What it moves: one operand again for every column of blocks, the other again for every block of rows.
  double KernelBytes(double lhs, double rhs, double out) const;

 private:
  double BlocksOfRows() const;
};

// Nothing where `op` is no ragged dot.
std::optional<RaggedDot> RaggedDotOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
