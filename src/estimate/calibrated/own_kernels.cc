#include "estimate/calibrated/own_kernels.h"

#include <cmath>

#include "estimate/arithmetic.h"
#include "estimate/field/attention.h"
#include "estimate/field/constants.h"
#include "estimate/field/matmul.h"
#include "estimate/narrow_formats.h"
#include "hardware/capability.h"

namespace hespas::estimate::calibrated {
namespace {

// Other kernels of the program have quantised the left operand.
std::optional<field::Matmul> ScaledMatmul(const hardware::Device& device, const LeafFacts& facts) {
  if (!facts.scaled_dot) return std::nullopt;
  const BlockScaledDot& dot = *facts.scaled_dot;
  const auto format = NarrowFormatOn(device, dot.format);
  if (!format) return std::nullopt;
  return field::Matmul{.format = *format,
                       .m = dot.m,
                       .n = dot.n,
                       .k = dot.k,
                       .groups = dot.batch,
                       .weight_bytes = dot.weight_bytes,
                       .in_step = true};
}

}  // namespace

bool PricedByField(const hardware::Device& device, const LeafFacts& facts) {
  return (facts.attention || ScaledMatmul(device, facts)) && hardware::ComputeCapability(device) > 0 &&
         device.Knows("bf16") && field::DefaultConstants();
}

std::optional<double> FieldUs(const hardware::Device& device, const LeafFacts& facts) {
  if (!PricedByField(device, facts)) return std::nullopt;
  const field::Constants& constants = *field::DefaultConstants();
  const field::Chip chip = field::MakeChip(device);
  const field::Time time = facts.attention ? field::TimeOf(chip, constants, *facts.attention)
                                           : field::TimeOf(chip, constants, *ScaledMatmul(device, facts));
  return time.us - StartUs(chip, constants.matmul);
}

double MatrixUs(const KernelModel& model, const hardware::Device& device, const LeafFacts& facts) {
  if (const auto us = FieldUs(device, facts)) return *us;
  const double us = SecondsOn(model.machine(), facts.arithmetic) / model.parameters().gemm.sustained_fraction *
                    facts.cost.padding * 1e6;
  if (!device.systolic_array || facts.cost.head <= 0) return us;
  const double rows = device.systolic_array->rows;
  const auto filled = static_cast<double>(facts.cost.head);
  return us * std::ceil(filled / rows) * rows / filled;
}

}  // namespace hespas::estimate::calibrated
