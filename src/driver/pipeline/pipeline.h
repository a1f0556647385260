// A run with all that its stages returned, for commands that look closer than a RunResult.
#pragma once

#include "driver/pipeline/run.h"
#include "report/step/step_view.h"

namespace hespas::driver {

struct Finished {
  Prepared prepared;
  Estimated estimated;
  trace::TraceGraph traces;
  std::optional<hardware::System> system;  // absent: no network was simulated
  std::optional<result::SimResult> simulated;
  result::RunResult result;

  report::StepView View() const;  // refers to this
};

// What stages leave, with what is said about it; reports what --require-fit refuses.
std::optional<result::RunResult> Conclude(const RunOptions& options, const Prepared& prepared,
                                          const Estimated& estimated, const trace::TraceGraph& traces,
                                          const hardware::System* system,
                                          const std::optional<result::SimResult>& simulated, Diagnostics& diagnostics);

// What was warned of, as part of the answer.
void AddWarnings(const Diagnostics& diagnostics, result::RunResult& result);

// All stages; nothing is written.
std::optional<Finished> RunStages(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
