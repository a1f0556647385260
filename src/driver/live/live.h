// What a report recomputes in the browser: the terms of its blocks and collectives, and who waits for whom.
//
// - The page (data/report/live.js) puts other figures of device and network into the same formulas and simulates the
// step
//   again. Kernels and their order stay those of the run: as `hespas run --keep-kernels` with the same --set.
// - Of runs that the page cannot recompute it says why.
#pragma once

#include <string>

#include "driver/stages/run_options.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

struct LiveInput {
  const RunOptions& options;
  const Prepared& prepared;
  const Estimated& estimated;
  const trace::TraceGraph& traces;
  const hardware::System* system;  // nullptr: no network was simulated
  std::string network_model;       // as in RunResult
};

// One JSON object: {"why_not": "..."} or all that the page needs.
std::string LiveData(const LiveInput& run);

}  // namespace hespas::driver
