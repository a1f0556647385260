// A server of several engines: a router before them, clients around them.
//
// - Aggregated engines take whole requests; disaggregated ones compute prompts on one pool and tokens on another, with
//   the keys and values sent between them. The first token comes from the pool of prompts.
// - Deterministic: events of one time are handled in the order arrivals, transfers, step ends by engine.
#pragma once

#include <cstdint>
#include <vector>

#include "serve/load/workload.h"
#include "serve/policy.h"
#include "serve/replica.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kStuck{
    "E0713",
    "Running requests need blocks of the cache that others hold, and the policy lets none of them go: use "
    "--preemption recompute, --admission reserve, more devices or fewer --max-requests.",
    Outcome::kCannotRun};

struct Disaggregation {
  int64_t prefill = 0;  // engines; 0: aggregated
  int64_t decode = 0;
  double transfer_s_per_token = 0;
};

// Of a request; a run ends where more than so many exceed one.
struct Patience {
  double ttft_s = kNever;
  double tpot_s = kNever;
  double e2e_s = kNever;
  int64_t misses = std::numeric_limits<int64_t>::max();
};

struct ServerOptions {
  Policy policy;
  const StepModel* steps = nullptr;
  int64_t replicas = 1;
  Disaggregation disaggregation;
  uint64_t seed = 1;
  bool record = false;  // Run::timeline
  Patience patience;
};

// What one request saw, in seconds from the start.
struct Record {
  double sent = 0;
  double admitted = -1;  // into the first step
  double first = 0;      // token, at the client
  double resumed = -1;   // on another engine, which decodes
  double last = 0;
};

struct Gap {
  float seconds = 0;
  uint32_t tokens = 0;  // that came after it
};

struct Moment {
  double time = 0;
  double running = 0;
  double waiting = 0;
  double blocks_used = 0;
};

struct Run {
  std::vector<Record> records;  // by request; sent < 0: refused
  std::vector<Gap> gaps;        // between tokens of a request, pooled
  std::vector<Moment> timeline;
  std::vector<StepRecord> steps;  // the first ones, with `record`
  ReplicaCounts counts;           // of all engines; of disaggregated ones those that decode
  double wall = 0;
  double requests_seconds = 0;  // integral of requests in the system
  int64_t refused = 0;
  bool given_up = false;  // out of patience
};

Result<Run> Simulate(const Workload& workload, const ServerOptions& options);

}  // namespace hespas::serve
