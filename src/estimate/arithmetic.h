// The arithmetic of ops and the rate at which a device does it: one rule for estimates, bounds and utilisation.
//
// - Rates are those of what XLA runs for a type and precision (docs/reference/matmul-types.md): TF32 or FP32 on GPUs,
//   bf16 passes on TPUs, conversions where the hardware lacks a type. Never 0, never infinite.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "estimate/calibrated/machine.h"
#include "hardware/device.h"
#include "ir/facts/matmul_precision.h"
#include "ir/module.h"

namespace hespas::estimate {

// Operations at one rate.
struct Arithmetic {
  double flops = 0;
  bool contraction = false;
  std::optional<calibrated::Datatype> type;  // of the real components; nothing: at the rate of types without one
  ir::MatmulPrecision precision = {};        // of contractions
  // Of block-scaled dots: what is multiplied where the hardware takes no scales.
  std::optional<calibrated::Datatype> dequantised = {};
};

// One entry for each rate that an op needs; of a fusion, that of all ops in it.
std::vector<Arithmetic> ArithmeticOf(const ir::Module& module, ir::OpId op);

// What matrix units multiply, and how often, for one matmul of the program's type.
struct MatrixType {
  calibrated::Datatype type = calibrated::Datatype::kF32;
  double passes = 1;
};
MatrixType MatrixTypeOn(const calibrated::Machine& machine, const Arithmetic& arithmetic);

FlopsPerSecond RateOn(const calibrated::Machine& machine, const Arithmetic& arithmetic);
// The same of one entry after the other.
double SecondsOn(const calibrated::Machine& machine, const std::vector<Arithmetic>& arithmetic);

}  // namespace hespas::estimate
