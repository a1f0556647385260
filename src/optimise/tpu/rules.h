// Every threshold of the TPU policy, each with its source.
//
// - XLA's TPU compiler is closed: all limits of fusion are fitted, by looking at one program,
//   tests/data/optimise/llama3-100m-8dev.tpuv3.hlo.gz. docs/optimiser.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hespas::optimise::tpu_rules {

// Instructions an element that kernels recompute, each for itself.
inline constexpr double kDuplicationLimit = 25;
// Duplicates may move this much of the traffic of materializing: at a tie kernels recompute.
inline constexpr double kTie = 1.1;
// Instructions an element that may follow a dot in its kernel.
inline constexpr double kFollowLimit = 25;
// Collective combiner: bytes of results, and operands.
inline constexpr int64_t kAllReduceBytes = int64_t{128} << 20;
inline constexpr size_t kAllReduceOperands = 1024;

}  // namespace hespas::optimise::tpu_rules
