// What a table of rows shows: the Pareto front, which axis matters, how the time scales with devices, maps of two axes.
#pragma once

#include <string>
#include <vector>

#include "sweep/answer/row.h"

namespace hespas::sweep {

// Places of the rows that no other row beats in both columns, by the first. Rows without a number count for nothing.
std::vector<size_t> ParetoFront(const std::vector<Json>& rows, const std::string& x, const std::string& y);

// Share of the variance of the logarithm of a column that an axis alone explains (its main effect; Sobol' 1993).
struct Effect {
  std::string axis;
  double share = 0;
  double slowest = 1;  // mean of the worst value over that of the best, geometric
};
std::vector<Effect> EffectsOf(const std::vector<Json>& rows, const std::vector<std::string>& axes,
                              const std::string& column);

// The least times by number of devices, for one choice of everything that does not decide that number.
struct Scaling {
  std::string label;
  std::string kind;  // "strong", "weak", "mixed"
  struct Step {
    double npus = 0;
    double time_s = 0;
    double efficiency = 1;  // work per second and device, over that of the fewest devices
    Json row;
  };
  std::vector<Step> steps;
};
std::vector<Scaling> ScalingsOf(const std::vector<Json>& rows, const std::vector<std::string>& axes);

// Values of an axis in order; more than `most` numbers become as many ranges of equal width.
struct Bins {
  std::vector<std::string> labels;
  std::vector<size_t> of_row;
};
Bins BinsOf(const std::vector<Json>& rows, const std::string& axis, size_t most);

}  // namespace hespas::sweep
