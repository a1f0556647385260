// What one step of a server computes, and what it costs: the border between the scheduler and who prices steps.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kBadStepModel{
    "E0710",
    "--step-model gives the seconds of a step by constants: a (of any step), b (of a request that decodes), c "
    "(of a token of its context) and p (of a token of a prompt), each from 0 on; at least one is above 0.",
    Outcome::kUsage};

// Times of events are multiples of 2^-40 s, about a picosecond: sums and differences of them are exact for two hours,
// so equal waits at different times are equal.
inline double OnGrid(double seconds) {
  constexpr double kGrid = 0x1p40;           // a power of two: product and quotient are exact
  constexpr double kNoFractions = 0x1.8p52;  // a sum with it is rounded to the next whole number, as nearbyint would
  const double units = seconds * kGrid;
  const bool small = std::fabs(units) < 0x1p51;
  return (small ? (units + kNoFractions) - kNoFractions : std::nearbyint(units)) / kGrid;
}

// Where a step's time goes.
enum class Part { kWeights, kAttention, kOther, kCollectives, kLaunch, kHost };
inline constexpr size_t kParts = 6;
inline constexpr std::array<std::string_view, kParts> kPartNames = {"weights",     "attention", "other",
                                                                    "collectives", "launch",    "host"};

// Rows of several kinds share a step. Counts are doubles: averages are asked for too.
struct StepShape {
  double decode_requests = 0;
  double decode_rows = 0;     // tokens computed for them: more than requests with speculation
  double decode_context = 0;  // tokens that these attend to, all requests together
  double prompt_tokens = 0;
  double prompt_requests = 0;
  double prompt_ends = 0;     // prompts whose last token is among them
  double prompt_context = 0;  // tokens in the cache after the step, of prompts in it
  double prompt_pairs = 0;    // pairs of a token and one that it attends to
  double moved_tokens = 0;    // whose keys and values come back from the host

  double rows() const { return decode_rows + prompt_tokens; }
};

struct StepCost {
  double seconds = 0;
  std::array<double, kParts> parts{};
};

// One of a step's kernels, or several of one name and size.
struct KernelTime {
  std::string name;
  double count = 1;
  double seconds = 0;  // of all of its count
};

// The steps of a server, before any is simulated.
struct StepRange {
  int64_t requests = 1;     // that decode in one step, at most
  double rows_each = 1;     // of theirs
  double context = 1;       // tokens that each attends to, at least
  double prompt_rows = 1;   // of a step that has prompts, at least
  double rows = 1;          // of any step, at most
  double sampled_rows = 1;  // of those, at most
  bool operator==(const StepRange&) const = default;
};

// What no such step costs less than; 0 or nothing where nothing is known.
struct StepFloors {
  double row_s = 0;              // a step, for each of its rows
  std::vector<double> decode_s;  // a step in which at least 1, 2, ... requests decode
  double prompt_row_s = 0;       // beyond that, for each row of prompts in it
};

class StepModel {
 public:
  virtual ~StepModel() = default;
  virtual StepCost CostOf(const StepShape& step) const = 0;
  virtual StepFloors Floors(const StepRange&) const { return {}; }
  // Longest first; none where steps are constants.
  virtual std::vector<KernelTime> KernelsOf(const StepShape&) const { return {}; }
};

// a + b x decode rows + c x their contexts + p x prompt tokens.
class LinearStepModel : public StepModel {
 public:
  // "a=1e-3,b=2e-5,c=1e-9,p=1e-5"; absent ones are 0.
  static Result<LinearStepModel> Parse(const std::string& text);
  StepCost CostOf(const StepShape& step) const override;
  StepFloors Floors(const StepRange& range) const override;

  double a = 0;
  double b = 0;
  double c = 0;
  double p = 0;
};

}  // namespace hespas::serve
