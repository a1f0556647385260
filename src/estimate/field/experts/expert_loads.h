// How many rows each expert of a rank gets, as AIConfigurator's benchmark routes tokens (collector/helper.py).
#pragma once

#include <vector>

#include "estimate/field/experts/experts.h"

namespace hespas::estimate::field {

// Of the measured rank, which is the busiest one where loads follow a power law.
struct ExpertLoads {
  std::vector<double> rows;  // of its experts that have any, one drawing of loads after another
  double drawings = 1;

  double Rows() const;     // mean of a drawing
  double Touched() const;  // experts with rows, mean of a drawing

  // Makes it the matmul of these experts, which must stay where they are.
  void Group(Matmul& matmul) const;
};

ExpertLoads LoadsOf(const ExpertLayer& layer);

}  // namespace hespas::estimate::field
