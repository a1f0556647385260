// Dots, convolutions and library calls as the matmuls that the calibrated model times.
//
// - A batch of vector matmuls, and a small matmul of a matrix and a vector, is none: XLA reduces its strength to a
//   multiplication and a sum.
#pragma once

#include <optional>

#include "estimate/arithmetic.h"
#include "estimate/calibrated/kernel.h"
#include "estimate/calibrated/machine.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

// A matmul whose type waits for the machine.
struct Matmul {
  KernelSpec kernel;
  Arithmetic arithmetic;  // type and precision that the program asks for

  // As the machine's matrix units run it.
  KernelSpec On(const Machine& machine) const;
};

// Nothing where `op` multiplies no matrices.
std::optional<Matmul> MatmulIn(const ir::Module& module, ir::OpId op);

// A call of a convolution of single channels, which cuDNN multiplies on lanes.
bool IsDepthwiseCall(const ir::Module& module, ir::OpId op);

// The two together.
std::optional<KernelSpec> MatmulOf(const ir::Module& module, ir::OpId op, const Machine& machine);

}  // namespace hespas::estimate::calibrated
