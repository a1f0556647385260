// What the accuracy suite must reach: bounds on mean, median and bias of pooled rows, from data/measured/bounds.json.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "driver/measured_sets.h"
#include "report/table.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kAccuracyMissed{
    "E0980",
    "The model's error on a set of measurements is above the bound that data/measured/bounds.json promises for it.",
    Outcome::kBoundMissed};

struct BoundResult {
  std::string name;
  std::string mode;
  size_t count = 0;
  ErrorSummary error;
  double mean_bound = 0;
  std::optional<double> median_bound;
  bool held = false;
};

// Bounds whose mode was compared; the bias may be at most 0.7 of the bound. Missed ones are reported as errors.
std::optional<std::vector<BoundResult>> CheckBounds(const Groups& groups, Diagnostics& diagnostics);

report::Table BoundTable(const std::vector<BoundResult>& results);

}  // namespace hespas::driver
