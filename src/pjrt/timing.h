// Repeated timings as one figure.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"

namespace hespas::pjrt {

struct Timing {
  double seconds = 0;     // mean without outliers
  double half_width = 0;  // of its 95 % confidence interval
  int repeats = 0;        // taken
};

// Outliers are further from the median than three standard deviations, as the median absolute deviation tells them.
Timing RobustMean(std::vector<double> seconds);

struct Effort {
  double relative_half_width = 0.03;  // good enough
  double limit_s = 2;                 // of all repeats together
  int least = 5;
  int most = 1000;
};

// Calls `once`, which returns seconds, until the figure is good enough or the effort is spent.
Result<Timing> Repeat(const Effort& effort, const std::function<Result<double>()>& once);

}  // namespace hespas::pjrt
