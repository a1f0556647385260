// Constants within ranges of logarithms, at which an error is least: what fits have in common.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

namespace hespas::estimate::calibrated {

struct Range {
  double low = 0, high = 0;  // above 0
  double start = 0;          // 0: the middle. A weak pull leads to it, which decides where the data say nothing
};

// The size of the logarithm of a prediction over what was measured; below 0.01 it counts by its square.
inline double SmoothError(double ratio) {
  constexpr double kSmoothing = 0.01;
  return std::hypot(std::log(ratio), kSmoothing);
}

// One value a range. Without the optimiser (minimise.h), the starts.
std::vector<double> LeastError(const std::vector<Range>& ranges,
                               const std::function<double(const std::vector<double>&)>& error, int evaluations);

}  // namespace hespas::estimate::calibrated
