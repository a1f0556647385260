// A rising function that is nowhere above one given at points, linear between them: of a point the least value there
// and beyond.
#pragma once

#include <vector>

namespace hespas::driver {

class Rising {
 public:
  // By ascending `x`, from 0 on.
  void Add(double x, double y);
  double At(double x) const;
  // The least y / x.
  double LeastShare() const;
  // The least (y2 - y1) / (x2 - x1) from any x1 up to `begin` to any x2 at least `width` beyond.
  double LeastSlope(double begin, double width) const;

 private:
  std::vector<double> x_;
  std::vector<double> y_;
};

}  // namespace hespas::driver
