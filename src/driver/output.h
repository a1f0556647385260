// Writes what a run leaves in its output folder; each file appears whole or not at all.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "driver/pipeline.h"
#include "report/perfetto.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kOutputNotFolder{"E0915", "The output path exists and is not a folder."};

// Creates the folder, emptied first where `clean` asks for it.
Status PrepareFolder(const std::filesystem::path& folder, bool clean);

// dev.<id>.et and comm_group.json.
Status WriteTraces(const trace::TraceGraph& traces, const std::filesystem::path& folder);

// Gives every dev.<id>.et of the folder a file of its own where several names share one.
Status ExpandTraces(const std::filesystem::path& folder);

// The traces, module_stats.json and result.json.
Status WriteOutputs(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                    const result::RunResult& result, const std::filesystem::path& folder);

// What the timeline counts beside its slices; refers to the run.
report::TimelineCounters CountersOf(const Finished& run);

// report.html and, where a network was simulated, timeline.pftrace.
Status WriteReport(const Finished& run, const std::filesystem::path& folder);

}  // namespace hespas::driver
