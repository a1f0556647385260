// Discrete-event simulation of whole runs: failures, checkpoints, recovery, repairs and pauses one after the other.
//
// - Reproducible: equal plans, options and seeds give equal answers. Run i draws the same numbers whatever the plan, so
//   that two plans differ by what differs in them.
// - Failures strike also during recovery and pauses; a job that waits for a node does not fail.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "goodput/model/plan.h"

namespace hespas::goodput {

// Where the seconds of one run go; they add up to `wall`.
struct Account {
  double work = 0;    // training that counts
  double lost = 0;    // training that a failure threw away
  double slow = 0;    // more, because of slow nodes
  double shrunk = 0;  // more, because nodes are missing
  double checkpoint = 0;
  double evaluation = 0;
  double detection = 0;
  double restart = 0;  // and replacing, loading, rejoining
  double waiting = 0;  // for a node
  double start = 0;

  double wall() const {
    return work + lost + slow + shrunk + checkpoint + evaluation + detection + restart + waiting + start;
  }
  double training() const { return work + lost + slow + shrunk; }  // devices compute
};

struct SimulatedRun {
  Account seconds;
  int64_t failures = 0;
  double work_scale = 1;  // the step's draw
};

struct SimulationOptions {
  int64_t runs = 400;
  uint64_t seed = 1;
  double work_sigma = 0;  // relative, of the step time: one draw a run
  double rate_sigma = 0;  // of the logarithm of the failure rate: one draw a run
};

inline constexpr DiagnosticKind kBadRuns{
    "E0872", "The simulation of training runs is asked for too few or too many runs, or for runs with too many events.",
    Outcome::kUsage};

Result<std::vector<SimulatedRun>> Simulate(const Plan& plan, const SimulationOptions& options);

// Mean seconds of the simulated runs.
double MeanWall(const std::vector<SimulatedRun>& runs);

// The interval with the shortest mean run, searched by simulation between two bounds.
Result<double> SimulatedBestInterval(const Plan& plan, const SimulationOptions& options, double low, double high);

}  // namespace hespas::goodput
