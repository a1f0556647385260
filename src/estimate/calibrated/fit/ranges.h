// Constants within ranges of logarithms, at which an error is least: what fits of shared constants have in common.
#pragma once

#include <functional>
#include <vector>

namespace hespas::estimate::calibrated {

struct Range {
  double low = 0, high = 0;  // above 0
  double start = 0;          // 0: the middle. A weak pull leads to it, which decides where the data say nothing
};

// One value a range. Without the optimiser (minimise.h), the starts.
std::vector<double> LeastError(const std::vector<Range>& ranges,
                               const std::function<double(const std::vector<double>&)>& error, int evaluations);

}  // namespace hespas::estimate::calibrated
