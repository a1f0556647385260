// What the accuracy suite must reach: bounds on pooled rows, from data/measured/bounds.json.
//
// - On mean and median; the bias may be at most 0.7 of the mean's bound. Entries without `mean` and `median` are only
//   reported.
// - An entry that matches no row is missed where its set was compared in its mode.
// - Entries with `coverage`: 60 to 75 % of the measurements within one sigma, 90 % or more within two.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "report/text/table.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr DiagnosticKind kAccuracyMissed{"E0980",
                                                "The model's error on a set of measurements is above the bound that "
                                                "data/measured/bounds.json promises for it, or a "
                                                "bound matches no measurement of its set.",
                                                Outcome::kBoundMissed};

struct BoundResult {
  std::string name;
  std::string mode;
  AccuracyRow errors;  // of the pooled rows
  std::optional<double> mean_bound;
  std::optional<double> median_bound;
  bool errors_held = false;
  bool coverage_held = false;
  bool held() const { return errors_held && coverage_held; }
};

// Entries whose set was compared in their mode. Missed ones are reported as errors.
std::optional<std::vector<BoundResult>> CheckBounds(const Groups& groups, Diagnostics& diagnostics);

report::Table BoundTable(const std::vector<BoundResult>& results);

// One row a name, with the mean errors of its modes beside each other.
report::Table ModeTable(const std::vector<BoundResult>& results);

}  // namespace hespas::validate
