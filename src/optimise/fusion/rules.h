// Limits of multi-output fusion that all targets share. docs/optimiser.md lists them beside XLA's rules.
#pragma once

#include <cstddef>

namespace hespas::optimise::fusion_rules {

// Fitted, by looking at the LLaMA pairs of tests/data/optimise: XLA gpu/gpu_fusible.h caps operands and outputs
// together (MaxOperandsAndOutputsPerFusion, 96), and its sibling fusion goes over all consumers of a value.
inline constexpr size_t kOutputs = 12;  // results of one kernel
inline constexpr size_t kSiblings = 6;  // consumers of a value that are looked at together
inline constexpr double kCostly = 4;    // instructions an element: more than additions and multiplications

// Bounds on our own time: units that a search for cycles visits, beyond which kernels stay apart. Searches are far as
// long as all together have not looked at a few hundred units for each, so that time grows with the program only.
inline constexpr size_t kSearchLimit = 4096;
inline constexpr size_t kShortSearch = 512;
inline constexpr size_t kLooksPerUnit = 256;
inline constexpr size_t kReach = 16384;  // units between two kernels that may be fused

}  // namespace hespas::optimise::fusion_rules
