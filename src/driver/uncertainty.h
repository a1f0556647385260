// Standard deviation of a step's time from those of its blocks.
//
// - Blocks of one family (products; everything else) err together in part: the parameter file's `correlation` of their
//   variance is common. Repeats of one block err alike.
#pragma once

#include <optional>

#include "driver/run.h"

namespace hespas::driver {

// Nothing where the estimator states no uncertainty. `exposed`: communication that nothing hides.
std::optional<Time> StepSigma(const Prepared& prepared, const Estimated& estimated, Time exposed);

}  // namespace hespas::driver
