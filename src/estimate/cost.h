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

#include "hardware/device.h"
#include "ir/module.h"

namespace hespas::estimate {

struct OpCost {
  int64_t flops = 0;
  int64_t bytes = 0;
  bool contraction = false;         // flops run at the matrix rate of `datatype`
  bool known = true;                // false: no rule, every operand read and every result written
  std::string_view unknown_target;  // of a custom call without a rule
  // Of kernels that are no plain matmul, reduction or copy (custom_kernel.h).
  bool own_kernel = false;      // flops, bytes, exponentials and steps tell its time
  bool full_precision = false;  // the library multiplies at the type's full precision
  bool block_scaled = false;    // a dot whose operands have scales
  int64_t transcendentals = 0;
  double steps = 0;        // kernels that wait for each other
  int64_t head = 0;        // of attention: one dimension of all its matmuls
  double padding = 1;      // multiplications of the kernel over those of `flops`
  int64_t host_bytes = 0;  // over the host's link
};

OpCost CostOf(const ir::Module& module, ir::OpId op);

// The element type whose rate an op runs at: for contractions that of the operands, the wider where they differ and
// floats before integers; else the widest (first of equals).
const ir::Element* RateElement(const ir::Module& module, ir::OpId op, bool contraction);

bool HasDynamicShape(const ir::Module& module, ir::OpId op);

// What crosses the link to the host; 32 GB/s (PCIe 4.0 x16) where the device file gives no `host_bandwidth`.
double HostSeconds(const hardware::Device& device, const OpCost& cost);

// Multiplications of a dot or convolution, times two; zeros of base dilation do not count.
int64_t ContractionFlops(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
