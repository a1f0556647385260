// The value of one setting from which on a target is met: `hespas solve`.
//
// - A result that only rises or only falls with the setting is bisected; any other is scanned first, and the border
//   nearest to today's value is bisected. Each point is what `hespas run` answers (sweep/evaluator.h).
// - Where no point of the range meets the target, the nearest miss is the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "driver/pipeline/run.h"
#include "sweep/solve/target.h"
#include "sweep/solve/unknown.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kNotMet{
    "E1013", "No value in the range meets the target. The answer names the value that comes nearest to it.",
    Outcome::kBoundMissed};
inline constexpr DiagnosticKind kBadRange{"E1014",
                                          "The range of --between is no pair of quantities FROM,TO with 0 < FROM < TO, "
                                          "or is missing where today's value is 0 "
                                          "or unknown.",
                                          Outcome::kUsage};

struct SolveOptions {
  driver::RunOptions run;
  std::string find;     // sweep/solve/unknown.h
  std::string until;    // sweep/solve/target.h
  std::string between;  // "FROM,TO"; empty: a hundredth to a hundred times today's value, for devices 1/64 to 64
};

// One value that was tried.
struct Tried {
  double at = 0;                // in base units
  std::optional<double> value;  // of the target's result
  result::RunResult result;
  std::string error;  // why there is no value
};

struct Solution {
  Unknown unknown;
  Target target;
  Unit unit = Unit::kNumber;
  std::optional<double> today;  // of the setting
  Tried now;                    // at that
  bool met = false;
  Tried answer;                 // where met, else the nearest miss
  std::optional<double> slope;  // of the target's result at the answer, per base unit of the setting
  bool monotone = true;
  bool rising = false;  // larger values of the setting meet it
  double from = 0, to = 0;
  std::vector<Tried> tried;  // by value, without their results
  size_t runs = 0;
};

std::optional<Solution> Solve(const SolveOptions& options, Diagnostics& diagnostics);

// For a terminal; `program` etc. come from the answer's result.
std::string ToText(const Solution& solution);
std::string ToJson(const Solution& solution, const std::string& command);

}  // namespace hespas::sweep
