// How much work one element of an op is: one row for each op, one column for each meaning.
//
// - The columns differ on purpose: they count different things for different models. An unset entry means that the
//   model's default for such ops holds.
#pragma once

#include <optional>

#include "ir/op_kind.h"

namespace hespas::ir {

struct OpWeight {
  OpKind kind;
  // Scalar instructions in the optimiser's fusion limits (TPU duplication, "costly" column reductions). Fitted: the
  // step-time prototype's weights.
  std::optional<double> fusion;
  // Instructions on CUDA cores and on special function units, in the calibrated estimator. Fitted: the prototype's
  // weights for an A100, whose special units are a quarter of its cores. Sine and cosine: what XLA's kernels run for
  // arguments below 105,615, counted in their PTX; two are conversions.
  std::optional<double> cores;
  double special = 0;
  // Clocks in XLA's fusion decisions, f32, compute capability 8.0 and 9.0: XLA gpu/model/hlo_op_profiles_data.h, 0.7.2
  // (measured on the device).
  std::optional<double> sm80 = std::nullopt;
  std::optional<double> sm90 = std::nullopt;
};

// Null for ops without a row.
const OpWeight* WeightOf(OpKind kind);

}  // namespace hespas::ir
