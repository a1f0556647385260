// A long run as the two engines see it: work, failures, recovery, checkpoints, spare nodes, pauses.
//
// - Times are seconds in doubles: `Time` counts picoseconds in 64 bits, which end after 106 days.
// - Work is counted in seconds of undisturbed training with all nodes.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace hespas::goodput {

inline constexpr DiagnosticKind kBadPlan{
    "E0871",
    "The figures of a training run contradict each other. Rates, times and bandwidths are finite and above 0; a "
    "checkpoint "
    "is written in less time than the interval between two; there are fewer spare nodes than nodes; and the run must "
    "come forward in spite of its failures.",
    Outcome::kUsage};

struct Failures {
  double rate = 0;      // of the whole job, a second; 1 / rate is its mean time between failures
  double shape = 1;     // of the Weibull distribution; 1: exponential
  double hardware = 1;  // fraction that takes a node out
  double deep = 0;      // fraction that loses the fast tier of checkpoints
};

struct Recovery {
  double detection = 0;
  double restart = 0;
  double replace = 0;    // more, where a spare node takes over
  double load_fast = 0;  // reading the fast tier (the only one without tiers)
  double load_deep = 0;  // reading the slow tier
};

struct Checkpoint {
  double interval = 0;  // work between two
  double stall = 0;     // training stands still
  double lag = 0;       // from the end of the stall until it counts: written in the background
  bool tiers = false;   // every `persist_every`-th goes to a slower tier, too
  int64_t persist_every = 1;
  double persist_lag = 0;
};

struct Pool {
  int64_t nodes = 1;
  int64_t spares = 0;
  double repair = 0;     // mean; exponential
  bool elastic = false;  // without a spare go on with fewer nodes
  int64_t least = 1;     // of them
  double rejoin = 0;     // pause when a repaired node comes back
};

struct Pauses {
  double start = 0;
  double evaluation_interval = 0;  // of work; 0: none
  double evaluation = 0;
  double slow_rate = 0;  // episodes of the job, a second
  double slow_factor = 1;
  double slow_time = 0;
};

struct Plan {
  double work = 0;
  Failures failures;
  Recovery recovery;
  Checkpoint checkpoint;
  Pool pool;
  Pauses pauses;

  double mtbf() const { return 1 / failures.rate; }
  // Failures when the job is back, on average over their sorts.
  double MeanRecovery() const;
};

Status Check(const Plan& plan);

// Weibull with mean 1 / rate.
double Survival(const Failures& failures, double time);
double TimeToFailure(const Failures& failures, double uniform);

}  // namespace hespas::goodput
