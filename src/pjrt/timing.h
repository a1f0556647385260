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
  int in_a_row = 1;       // runs of each repeat that share one wait; `seconds` is of one of them
  double host_share = 0;  // of the time, spent on starting them: near 1 where the device waits for the host
};

// Outliers are further from the median than three standard deviations, as the median absolute deviation tells them.
Timing RobustMean(std::vector<double> seconds);

struct Effort {
  double relative_half_width = 0.03;  // good enough
  double limit_s = 2;                 // of all that repeats spend
  int least = 5;
  int most = 1000;
};

struct Repetition {
  double seconds = 0;  // what is measured
  double spent_s = 0;  // with all that came before it, such as emptying caches
};

// Calls `once` until the figure is good enough or the effort is spent.
Result<Timing> Repeat(const Effort& effort, const std::function<Result<Repetition>()>& once);

}  // namespace hespas::pjrt
