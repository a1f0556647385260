// The lines that ASTRA-sim prints, and those of its log file (spec astra-sim sections 10.1, 10.3).
#pragma once

#include <string>

#include "hardware/system.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::report {

// `time` is the text between the first brackets, "2026-01-31 12:00:00.000".
std::string AstraSimLines(const result::SimResult& result, const hardware::System& system, const std::string& time);

// log.log: the same, with a debug line for each issue and each completion that `result.intervals` tell of.
std::string AstraSimLog(const result::SimResult& result, const hardware::System& system, const trace::TraceGraph& trace,
                        const std::string& time);

}  // namespace hespas::report
