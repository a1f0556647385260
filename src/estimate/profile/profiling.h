// The estimator that measures blocks, and leaves to a fallback what cannot be measured.
//
// - Distinct blocks are compiled several at a time and run one at a time, costliest first (as the fallback tells).
// - With a sample or a budget, blocks that were not measured cost what the fallback says, times the ratio of measured
// to
//   that in their family (blocks of the same operations), else in all; a note says how good that is.
#pragma once

#include <memory>

#include "estimate/estimator.h"
#include "estimate/profile/block_profiler.h"
#include "estimate/profile/profile_options.h"

namespace hespas::estimate {

std::unique_ptr<Estimator> Profiling(std::unique_ptr<BlockProfiler> profiler, std::unique_ptr<Estimator> fallback,
                                     const ProfileOptions& options);

}  // namespace hespas::estimate
