// Writes what a run leaves in its output folder; each file appears whole or not at all.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "driver/run.h"

namespace hespas::driver {

// dev.<id>.et and comm_group.json.
Status WriteTraces(const trace::TraceGraph& traces, const std::filesystem::path& folder);

// The traces, module_stats.json and result.json.
Status WriteOutputs(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                    const result::RunResult& result, const std::filesystem::path& folder);

}  // namespace hespas::driver
