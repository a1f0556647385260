// Dense factorisations and decompositions as the libraries run them (LAPACK, cuSOLVER, XLA's TPU kernels).
//
// - Operation counts by Golub and Van Loan, Matrix Computations, 4th edition. Blocked algorithms do most of them at the
//   matrix rate in full precision; each column of a panel waits for the one before it, so that small matrices are
//   bound by the number of dependent kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/module.h"

namespace hespas::estimate {

struct LinearAlgebra {
  int64_t flops = 0;
  int64_t bytes = 0;  // beside operands and results: matrix-vector products that stream the matrix
  double steps = 0;   // dependent kernels
};

// Nothing where the call's target names no such routine.
std::optional<LinearAlgebra> LinearAlgebraOf(const ir::Module& module, ir::OpId op, std::string_view target);

// Steps of a blocked triangular solve or factorisation without pivots of this order.
double PanelSteps(int64_t order);

}  // namespace hespas::estimate
