// Dots, convolutions and library calls as the matmuls that the calibrated model times.
#pragma once

#include <optional>

#include "estimate/calibrated/kernel.h"
#include "estimate/calibrated/machine.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

// A product whose type waits for the machine.
struct Product {
  KernelSpec kernel;
  bool may_be_tf32 = false;  // f32 that the program lets run as TF32

  // f32 becomes TF32 where the machine has it and the program lets it.
  KernelSpec On(const Machine& machine) const;
};

// Nothing where `op` multiplies no matrices.
std::optional<Product> ProductIn(const ir::Module& module, ir::OpId op);

// The two together.
std::optional<KernelSpec> ProductOf(const ir::Module& module, ir::OpId op, const Machine& machine);

}  // namespace hespas::estimate::calibrated
