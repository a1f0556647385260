// Step times of a server from a CSV file: phase, batch, context, and seconds or the program that takes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/stages/run_options.h"
#include "serve/step_table.h"

namespace hespas::cli {

// Programs run with `options`.
std::optional<serve::StepTables> ReadStepTable(const std::string& path, const driver::RunOptions& options,
                                               Diagnostics& diagnostics);

// "PROGRAM:BATCH:CONTEXT" each, the sizes of its symbolic dimensions behind another colon.
struct StepPrograms {
  std::vector<std::string> prefill;
  std::vector<std::string> decode;

  bool empty() const { return prefill.empty() && decode.empty(); }
};

// The same of programs that options name.
std::optional<serve::StepTables> ReadStepPrograms(const StepPrograms& programs, const driver::RunOptions& options,
                                                  Diagnostics& diagnostics);

}  // namespace hespas::cli
