// The condition that a solution must meet: one result, a comparison and a bound.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "result/run_result.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kBadTarget{
    "E1011",
    "A target compares one result with a quantity: `mfu > 40 %`, `exposed_communication < 10 %`, `step_time < 20 ms`. "
    "Results have the names of a sweep's columns (docs/sweeps.md). Of a time, % means of the step time.",
    Outcome::kUsage};

struct Target {
  std::string text;
  std::string column;    // "exposed_communication_s"
  bool below = true;     // the value must be below the bound, else above
  bool strict = false;   // and not equal to it
  double bound = 0;      // in base units
  bool of_step = false;  // a time as a fraction of the step time

  static Result<Target> Parse(const std::string& text);

  // What the target looks at; nothing where the run has no such value.
  std::optional<double> ValueOf(const result::RunResult& result) const;
  bool Met(double value) const;
  // How far the value is on the wrong side; negative on the right one.
  double Miss(double value) const { return below ? value - bound : bound - value; }
  // "6.3 % of the step", "20.1 ms", "44.5 k".
  std::string Human(double value) const;
};

}  // namespace hespas::sweep
