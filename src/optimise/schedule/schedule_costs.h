// How long XLA's latency-hiding scheduler takes each op and each collective to be.
//
// - Up to Ampere, and with --xla_gpu_enable_analytical_sol_latency_estimator=false: fixed ticks
//   (ApproximateLatencyEstimator).
// - From Hopper on: nanoseconds from the device's figures (as SolLatencyEstimator): memory traffic, matmuls at
//   what tensor cores sustain, collectives as the network's model prices them in one host.
#pragma once

#include <cstdint>
#include <vector>

#include "optimise/dataflow/pass.h"
#include "optimise/schedule/latency_hiding.h"

namespace hespas::optimise {

struct ScheduleCosts {
  std::vector<int64_t> costs;      // by op, as they stand
  std::vector<int64_t> latencies;  // by op: of a done, from its start on; empty: XLA's ticks
  int64_t least;                   // between an op and its consumer
};

// `roles` by op, in the order of `flow`.
ScheduleCosts CostsOf(const Dataflow& flow, const std::vector<Role>& roles, PassContext& context);

}  // namespace hespas::optimise
