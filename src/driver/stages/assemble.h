// The assemble stage: execution traces of all NPUs from blocks and their times.
#pragma once

#include <optional>

#include "base/diagnostic.h"
#include "driver/stages/estimate.h"
#include "hardware/system.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNoCommunication{
    "W0901", "The program has no collectives. It is estimated as one device's program, and the network has no effect."};

// `system`: the named one, or nullptr; a program without collectives runs on all its NPUs.
std::optional<trace::TraceGraph> AssembleTraces(const RunOptions& options, const Prepared& prepared,
                                                const Estimated& estimated, const hardware::System* system,
                                                Diagnostics& diagnostics);

}  // namespace hespas::driver
