// A run with all that its stages returned, for commands that look closer than a RunResult.
#pragma once

#include "driver/pipeline/run.h"
#include "report/step/step_view.h"

namespace hespas::driver {

// How much a repeated window of a loop may differ from the one before it; beyond that more iterations are simulated.
inline constexpr double kSteady = 0.001;

struct Finished {
  Prepared prepared;
  Estimated estimated;
  trace::TraceGraph traces;
  std::optional<hardware::System> system;  // absent: no network was simulated
  std::optional<result::SimResult> simulated;
  result::RunResult result;

  report::StepView View() const;  // refers to this
};

// All stages; nothing is written.
std::optional<Finished> RunStages(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
