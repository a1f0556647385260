// The highest rate that an answer says yes to, with few questions: each is a simulation.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "driver/serving/search/search.h"

namespace hespas::driver {

inline constexpr double kLowestRate = 0.01;  // requests/s
inline constexpr int kMostLowered = 14;      // times that a rate is lowered before none is thought to meet
inline constexpr int kHalvings = 4;          // of the interval of rates: to a sixteenth, what 200 requests tell apart

// `rate`, doubled as often as `bound` allows: a run beyond what a server answers ends soon, that of a server with
// little to do takes a step for each token.
inline double RateToBegin(double rate, double bound) {
  rate = std::max(kLowestRate, rate);
  if (!std::isfinite(bound)) return rate;
  while (2 * rate <= bound) rate *= 2;
  return rate;
}

// From `low`, to a sixteenth of it; 0 where none meets.
template <typename Meets>
double HighestOf(const Meets& meets, double low) {
  constexpr double kHighest = 1e5;
  int lowered = 0;
  for (; !meets(low); low /= 2) {
    if (low < kLowestRate || ++lowered > kMostLowered) return 0;
  }
  double high = 2 * low;
  while (lowered == 0 && high < kHighest && meets(high)) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (meets(middle) ? low : high) = middle;
  }
  return low;
}

// Up to `rate`, which is lowered in growing steps, since short runs may have been far off, and then raised in halves.
template <typename Sustained>
std::optional<SearchPoint> HighestSustained(const Sustained& sustained, double rate) {
  constexpr double kStep = 1.0 / (1 << kHalvings);
  auto best = sustained(rate);
  double high = rate;
  double step = kStep;
  for (int tries = 0; !best; ++tries) {
    if (rate < kLowestRate || tries > kMostLowered) return std::nullopt;
    high = rate;
    rate *= 1 - step;
    step = std::min(2 * step, 0.5);
    best = sustained(rate);
  }
  while (high - rate > 1.5 * kStep * high) {
    const double middle = (rate + high) / 2;
    const auto point = sustained(middle);
    if (point) best = point;
    (point ? rate : high) = middle;
  }
  return best;
}

}  // namespace hespas::driver
