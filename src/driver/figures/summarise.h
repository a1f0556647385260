// Makes the RunResult of `hespas run` from what the stages returned.
#pragma once

#include "driver/stages/run_options.h"
#include "report/step/step_view.h"
#include "result/run_result.h"

namespace hespas::driver {

// `simulated` is absent where no network was simulated: compute is then all there is.
result::RunResult Summarise(const RunOptions& options, const Prepared& prepared, const Estimated& estimated,
                            const trace::TraceGraph& traces, const std::optional<result::SimResult>& simulated);

report::StepView ViewOf(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                        const std::optional<result::SimResult>& simulated, Time step_time);

// The step's time and its parts, on the slowest rank.
void FillTimes(const result::SimResult& sim, result::RunResult& out);

// Of the slowest device; without a network that of all computation.
Time StepTime(const Prepared& prepared, const Estimated& estimated, const std::optional<result::SimResult>& simulated);

}  // namespace hespas::driver
