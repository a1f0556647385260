// timeline.pftrace: the simulated step as Perfetto TrackEvent packets, for https://ui.perfetto.dev.
//
// - One process for each simulated rank (one for all where they are equivalent) with a thread for computation and one
//   for each communicator, counters for memory and power, and an arrow from each communication to what waited for it.
// - Timestamps are nanoseconds; each slice also has its exact `duration_ps`, so sums equal result.json.
#pragma once

#include <optional>
#include <string>

#include "report/step/step_view.h"
#include "report/timeline/power_points.h"
#include "result/memory_curve.h"

namespace hespas::report {

struct TimelineCounters {
  const std::optional<result::MemoryCurve>& memory;
  std::optional<PowerFigures> power;  // absent where the device file has no TDP
};

// `step.simulated` must be there, with its intervals.
std::string PerfettoTrace(const StepView& step, const TimelineCounters& counters);

// The same slices in the older JSON form of chrome://tracing.
std::string ChromeTrace(const StepView& step, const TimelineCounters& counters);

}  // namespace hespas::report
