#include "driver/serving/rising.h"

#include <algorithm>
#include <limits>

namespace hespas::driver {

void Rising::Add(double x, double y) {
  x_.push_back(x);
  for (size_t i = y_.size(); i > 0 && y_[i - 1] > y; --i) y_[i - 1] = y;
  y_.push_back(y);
}

double Rising::At(double x) const {
  if (x_.empty()) return 0;
  const auto above = static_cast<size_t>(std::lower_bound(x_.begin(), x_.end(), x) - x_.begin());
  if (above == x_.size()) return y_.back();
  if (above == 0) return y_.front();
  return y_[above - 1] + (y_[above] - y_[above - 1]) * (x - x_[above - 1]) / (x_[above] - x_[above - 1]);
}

double Rising::LeastShare() const {
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < x_.size(); ++i) {
    if (x_[i] > 0) least = std::min(least, y_[i] / x_[i]);
  }
  return least;
}

// Both ends move on straight lines between points, where the slope has no minimum: it is least where one end is a
// point and the other is one, too, or as near as it may be.
double Rising::LeastSlope(double begin, double width) const {
  double least = std::numeric_limits<double>::infinity();
  const auto take = [&](double from, double from_y, double to, double to_y) {
    if (from >= 0 && from <= begin && to - from >= width) least = std::min(least, (to_y - from_y) / (to - from));
  };
  const auto from_here = [&](double from) {
    const double from_y = At(from);
    for (size_t i = 0; i < x_.size(); ++i) take(from, from_y, x_[i], y_[i]);
    if (from + width <= x_.back()) take(from, from_y, from + width, At(from + width));
  };
  for (const double from : x_) {
    if (from < begin) from_here(from);
  }
  from_here(begin);
  for (size_t i = 0; i < x_.size(); ++i) take(x_[i] - width, At(x_[i] - width), x_[i], y_[i]);
  return least < std::numeric_limits<double>::infinity() ? std::max(least, 0.0) : 0;
}

}  // namespace hespas::driver
