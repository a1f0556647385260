// Dots, convolutions and library calls as the matrix products that the calibrated model times.
#pragma once

#include <optional>

#include "estimate/calibrated/kernel.h"
#include "estimate/calibrated/machine.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

// Nothing where `op` multiplies no matrices. f32 becomes TF32 where the machine has it and the program lets it.
std::optional<KernelSpec> ProductOf(const ir::Module& module, ir::OpId op, const Machine& machine);

}  // namespace hespas::estimate::calibrated
