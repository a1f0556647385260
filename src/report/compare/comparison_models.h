// What made the figures of a comparison, for its text and its page.
#pragma once

#include <string>

#include "report/compare/comparison.h"

namespace hespas::report {

// "calibrated estimator, calibrated network model, --optimise auto": once where it is the same for all sides, else a
// line for each.
std::string ModelsText(const Comparison& comparison);

}  // namespace hespas::report
