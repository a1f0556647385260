#include "estimate/calls/linear_algebra.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingRound;

constexpr double kPanel = 32;  // columns of a panel in cuSOLVER and MAGMA

// Of an m x n matrix, m >= n: polynomial m n^2 * a + n^3 * b.
struct Routine {
  std::string_view part;  // of the target
  double mnn = 0;
  double nnn = 0;
  double steps = 0;     // dependent kernels a column
  double streamed = 0;  // of n^3 elements read by matrix-vector products
};
// Steps: kernels that wait for each other in a column of a panel (pivot search and scaling for LU; norm and
// matrix-vector product for QR; reflector, symmetric matrix-vector product and two updates for a tridiagonal
// reduction). Jacobi (`Eigh` of XLA): ten sweeps of n rotations of all rows.
constexpr Routine kRoutines[] = {
    {"potrf", 0, 1.0 / 3, 1, 0},
    {"Cholesky", 0, 1.0 / 3, 1, 0},  // section 4.2
    {"getrf", 1, -1.0 / 3, 2, 0},
    {"LuDecomposition", 1, -1.0 / 3, 2, 0},  // 3.2 and 3.4
    {"geqrf", 2, -2.0 / 3, 2, 0},
    {"geqp3", 2, -2.0 / 3, 3, 1.0 / 3},  // 5.2; pivoting streams the matrix once a column
    {"QrDecomposition", 2, -2.0 / 3, 2, 0},
    {"orgqr", 2, -2.0 / 3, 1 / kPanel, 0},
    {"ungqr", 2, -2.0 / 3, 1 / kPanel, 0},
    {"ormqr", 4, -2, 1 / kPanel, 0},
    {"unmqr", 4, -2, 1 / kPanel, 0},
    {"HouseholderReflectors", 2, -2.0 / 3, 1 / kPanel, 0},
    {"syevd", 0, 9, 6, 1.0 / 3},  // 8.3: with vectors
    {"heevd", 0, 9, 6, 1.0 / 3},
    {"syevj", 0, 60, 10, 0},
    {"heevj", 0, 60, 10, 0},
    {"Eigh", 0, 60, 10, 0},        // 8.5: 6 n^3 a sweep, with vectors
    {"gesvd", 14, 8, 8, 2.0 / 3},  // 8.6: with vectors
    {"gesdd", 14, 8, 8, 2.0 / 3},
    {"geev", 0, 25, 10, 1},  // 7.5: with vectors
    {"gees", 0, 25, 10, 1},
    {"gehrd", 0, 10.0 / 3, 3, 2.0 / 3},  // 7.4
    {"sytrd", 0, 4.0 / 3, 4, 1.0 / 3},   // 8.3
    {"hetrd", 0, 4.0 / 3, 4, 1.0 / 3},
};

struct Matrix {
  double m = 1, n = 1, batch = 1, element_bytes = 4, real_products = 1;
};

Matrix MatrixOf(const ir::Type& type) {
  Matrix matrix;
  const size_t rank = type.dims.size();
  const auto extent = [&](size_t i) {
    return type.dims[i] == ir::kDynamic ? 1.0 : static_cast<double>(std::max<int64_t>(type.dims[i], 1));
  };
  for (size_t i = 0; i + 2 < rank; ++i) matrix.batch *= extent(i);
  matrix.m = std::max(extent(rank - 2), extent(rank - 1));
  matrix.n = std::min(extent(rank - 2), extent(rank - 1));
  matrix.element_bytes = static_cast<double>(ir::ElementBits(type.element)) / 8;
  matrix.real_products = type.element.complex ? 4 : 1;
  return matrix;
}

}  // namespace

double PanelSteps(int64_t order) { return std::ceil(static_cast<double>(std::max<int64_t>(order, 1)) / kPanel); }

std::optional<LinearAlgebra> LinearAlgebraOf(const ir::Module& module, ir::OpId op, std::string_view target) {
  const auto* found = std::find_if(std::begin(kRoutines), std::end(kRoutines), [&](const Routine& routine) {
    return target.find(routine.part) != std::string_view::npos;
  });
  if (found == std::end(kRoutines) || module.op(op).operand_count == 0) return std::nullopt;
  const ir::Type& type = module.type(module.operands(op)[0]);
  if (type.dims.size() < 2) return std::nullopt;
  const Matrix matrix = MatrixOf(type);
  const double cube = matrix.n * matrix.n * matrix.n;
  const double flops = found->mnn * matrix.m * matrix.n * matrix.n + found->nnn * cube;
  return LinearAlgebra{.flops = SaturatingRound(std::max(1.0, flops) * matrix.batch * matrix.real_products),
                       .bytes = SaturatingRound(found->streamed * cube * matrix.batch * matrix.element_bytes),
                       .steps = std::max(1.0, found->steps * matrix.n)};  // batches go side by side
}

}  // namespace hespas::estimate
