// Work of one op: floating-point operations and bytes moved to and from memory, from one table of rules.
//
// - Operands are read and results written once, but slices, gathers, scatters and updates in place move only what they
//   touch, and bitcasts, tuples and other renamings nothing.
// - Zeros of base dilation in convolutions are not multiplied, padding is. Regions of reductions count by their
// elements.
// - Control flow and calls have no cost of their own (composite.h); dynamic dimensions count as 1.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/module.h"

namespace hespas::estimate {

struct OpCost {
  int64_t flops = 0;
  int64_t bytes = 0;
  bool contraction = false;         // flops run at the matrix rate of `datatype`
  bool known = true;                // false: no rule, every operand read and every result written
  std::string_view unknown_target;  // of a custom call without a rule
};

OpCost CostOf(const ir::Module& module, ir::OpId op);

// The element type whose rate an op runs at: the first operand's for contractions, else the widest (first of equals).
const ir::Element* RateElement(const ir::Module& module, ir::OpId op, bool contraction);

// Whether a dot or convolution may use TF32 for f32 data (no precision above DEFAULT was asked for).
bool AllowsTf32(const ir::Module& module, ir::OpId op);

bool HasDynamicShape(const ir::Module& module, ir::OpId op);

// Multiplications of a dot or convolution, times two; zeros of base dilation do not count.
int64_t ContractionFlops(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
