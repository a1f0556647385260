// The whole pipeline: read, optimise, split, estimate, assemble, simulate - the only place where stages meet.
//
// - Each function takes what the stage before made; diagnostics hold the reason where nothing is returned.
#pragma once

#include <optional>

#include "driver/stages/assemble.h"
#include "driver/stages/run_options.h"
#include "result/run_result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNotSteady{"W0903",
                                           "A loop has too many iterations to simulate all of them, and those that "
                                           "were simulated did not come to take equally "
                                           "long. The others count as long as the last ones that were simulated."};

// Reads, optimises and splits.
std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics);

// All stages; with an output folder also writes traces, statistics and result.json.
std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
