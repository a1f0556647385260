// Work of custom calls that hold a kernel: what they say of themselves, or what their family and shapes give.
//
// - In this order: the user's figures (`--cost`), Pallas's `cost_estimate`, attention kernels (cuDNN, Pallas, splash),
//   block-scaled dots, dense linear algebra (LAPACK, cuSOLVER, TPU), callbacks and copies of the host.
// - Operation counts and their sources: docs/reference/custom-kernels.md.
#pragma once

#include <optional>

#include "estimate/cost.h"
#include "ir/module.h"

namespace hespas::estimate {

std::optional<OpCost> CustomKernelCost(const ir::Module& module, ir::OpId op);

// Dependent steps of stablehlo.cholesky and stablehlo.triangular_solve: panels follow each other.
double FactorisationSteps(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
