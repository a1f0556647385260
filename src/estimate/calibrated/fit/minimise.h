// Minimum of a function within a box, by the NLopt library (Rowan's subplex method: no derivatives).
#pragma once

#include <functional>
#include <vector>

namespace hespas::estimate::calibrated {

bool HasOptimiser();

struct Box {
  std::vector<double> low;
  std::vector<double> high;
};

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

// `start` lies in the box. Without the library, the start.
Minimum Minimise(const std::function<double(const std::vector<double>&)>& f, const Box& box,
                 const std::vector<double>& start, int evaluations = 600);

}  // namespace hespas::estimate::calibrated
