// A serving estimate: requests arrive, wait, are prefilled and decoded in batches; how long do they take?
//
// - A discrete-event simulation of one replica with continuous batching: between two steps waiting requests join as
//   long as there is room, finished ones leave. New requests are prefilled together, then all decode one token.
// - Step times come from a table over batch and context, interpolated linearly in both and held beyond its ends.
// - Reproducible: equal options give equal answers, on any machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/load/length.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kBadStepTable{
    "E0944",
    "A table of step times has the columns phase (prefill or decode), batch, context and seconds; a row may name a "
    "program instead of seconds. Decode steps need a row, for `hespas serve` prompts too; times are above 0, or 0 for "
    "prefill."};
inline constexpr const char* kStepTableHelp =
    "columns: phase (prefill, decode), batch, context, and seconds or program, beside which bind may give sizes";
inline constexpr DiagnosticKind kBadServing{
    "E0945",
    "A serving option is out of range. Rates, batches and numbers of requests are above 0; lengths are a number, "
    "uniform:A:B, exponential:MEAN or geometric:MEAN.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kBeyondStepTable{
    "W0988",
    "The simulated server needed larger batches or longer contexts than the table of step times has. Those took as "
    "long as the table's last rows. Measure or estimate steps of that size and add them."};
inline constexpr DiagnosticKind kOverloaded{
    "W0989",
    "Requests arrive faster than the server answers them: the queue grows for as long as they do, and with it the "
    "latencies, which say how long was simulated rather than how fast the server is."};

// Seconds of one step by batch and context.
class StepTimes {
 public:
  void Add(double batch, double context, double seconds);
  bool empty() const { return points_.empty(); }
  double At(double batch, double context) const;
  // Whether a larger batch or longer context is asked for than a table has that tells several apart.
  bool EndsBefore(double batch, double context) const;

 private:
  struct Point {
    double batch;
    double context;
    double seconds;
  };
  double AlongContext(size_t begin, size_t end, double context) const;

  std::vector<Point> points_;  // by batch, then context
};

struct ServingOptions {
  double rate = 1;             // requests a second
  bool regular = false;        // arrivals at equal distances instead of a Poisson process
  std::string prompt = "128";  // tokens
  std::string output = "128";  // tokens
  int64_t max_batch = 32;      // requests that decode together
  int64_t requests = 10'000;   // simulated
  int64_t warm_up = 0;         // of them, omitted from the figures
  uint64_t seed = 1;
};

struct Percentiles {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

struct ServingEstimate {
  Percentiles latency;      // arrival to last token
  Percentiles wait;         // arrival to start of prefill
  Percentiles first_token;  // arrival to first token
  Percentiles per_token;    // between tokens of a request, by request
  double requests_per_second = 0;
  double tokens_per_second = 0;
  double utilisation = 0;  // fraction of the time with a step running
  double mean_batch = 0;   // of decode steps
  bool beyond_table = false;
  bool overloaded = false;
};

// Whether a table has what a server cannot do without; `where` is the table's place.
Status CheckDecodes(const StepTimes& decode, Location where = {});

Result<ServingEstimate> Serve(const StepTimes& prefill, const StepTimes& decode, const ServingOptions& options);

}  // namespace hespas::serve
