// How far measurements of one call lie apart: relative standard deviation of its logarithm.
//
// - Two campaigns of one library differ by more, the longer a call is, as clocks under a board's power do; two
//   libraries differ at every length; and weights that one copy leaves in L2 come out of memory with five.
#pragma once

#include <string_view>

#include "estimate/field/rows.h"

namespace hespas::estimate::field {

// "matmul", "fp8", "fp8_block", "nvfp4", "experts", "attention_context" or "attention_generation".
std::string_view FamilyOf(const Call& call);

// `us`: as measured.
double NoiseOf(const Chip& chip, const Constants& constants, const Call& call, double us);

}  // namespace hespas::estimate::field
