// The whole pipeline: read, optimise, split, estimate, assemble, simulate (driver/stages/sequence.h), and what is
// written of it.
#pragma once

#include <optional>

#include "driver/stages/fresh_stages.h"
#include "result/run_result.h"

namespace hespas::driver {

// All stages; with an output folder also writes traces, statistics and result.json.
std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
