// What no steady run of a candidate can exceed, before it is simulated.
//
// - Each step takes at least what its decodes and its prompts' rows cost, of decodes that attend to no more than their
//   prompts; blocks and requests are counted as if none were ever preempted. Infinite where lengths vary.
// - A decode step of n requests takes w seconds of their time and e of the engine's: mixing steps, tokens/s at a mean
//   time per token u are at most 1 / h(u), with h the lower convex hull of the points (w, e / n).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "driver/serving/server.h"

namespace hespas::driver {

inline constexpr int64_t kSearchRequests = 200;         // of a simulation, where the user gives no number
inline constexpr int64_t kMostSearchRequests = 20'000;  // unless the user gives more

class SearchBounds {
 public:
  // Of so many equal parts.
  double requests_per_s(double parts) const { return parts * most_; }
  // At a mean time per output token.
  double RequestsPerS(double tpot_s, double parts) const;
  // Whether, at each speed, some point answers more: `points` of (time per token, requests/s), in any order.
  bool Beaten(std::vector<std::pair<double, double>> points, double parts) const;

 private:
  friend SearchBounds BoundsOf(const Server&, const serve::Load&, std::optional<double>);
  struct Corner {
    double tpot_s;
    double engine_s;  // of a token
  };
  void AddCorner(Corner corner);
  double EngineSeconds(double tpot_s) const;  // of a token

  double most_ = std::numeric_limits<double>::infinity();
  double longest_tpot_s_ = std::numeric_limits<double>::infinity();
  double engines_ = 1;
  double tokens_ = 0;    // of a request after the first
  double prompt_s_ = 0;  // of a request, of an engine's time
  double kept_ = 1;      // share of requests that keep the limit
  std::vector<Corner> hull_;
};

// With a limit of the 99th percentile of a request's time per token.
SearchBounds BoundsOf(const Server& server, const serve::Load& load, std::optional<double> tpot_s);

}  // namespace hespas::driver
