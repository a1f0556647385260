// Writes what a run leaves in its output folder; each file appears whole or not at all.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "driver/pipeline/pipeline.h"
#include "driver/pipeline/run.h"
#include "report/timeline/perfetto.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kOutputNotFolder{"E0915", "The output path exists and is not a folder."};

// Creates the folder, emptied first where `clean` asks for it.
Status PrepareFolder(const std::filesystem::path& folder, bool clean);

// dev.<id>.et (or the manifest dev.ranks.json with one for each class of ranks) and comm_group.json.
Status WriteTraces(const trace::TraceGraph& traces, const std::filesystem::path& folder, report::TraceFiles form);

// The traces, module_stats.json and result.json, into the folder of `options`.
Status WriteOutputs(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                    const result::RunResult& result, const RunOptions& options);

// What the timeline counts beside its slices; refers to the run.
report::TimelineCounters CountersOf(const Finished& run);

// report.html and, where a network was simulated, timeline.pftrace.
// `options`: what the run was asked for.
Status WriteReport(const RunOptions& options, const Finished& run, const std::filesystem::path& folder);

}  // namespace hespas::driver
