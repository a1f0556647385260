// Step times of a server from a CSV file: phase, batch, context, and seconds or the program that takes them.
#pragma once

#include <optional>
#include <string>

#include "driver/stages/run_options.h"
#include "serve/step_table.h"

namespace hespas::cli {

// Programs run with `options`.
std::optional<serve::StepTables> ReadStepTable(const std::string& path, const driver::RunOptions& options,
                                               Diagnostics& diagnostics);

}  // namespace hespas::cli
