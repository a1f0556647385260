// The table forms of `hespas estimate`: --kernels CSV --device NAME, --collectives CSV --system NAME.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/options/pipeline_options.h"

namespace hespas::cli {

struct KernelTableOptions {
  std::string kernels;
  std::string collectives;
  bool wanted() const { return !kernels.empty() || !collectives.empty(); }
};

void AddKernelTableOptions(CLI::App& command, KernelTableOptions& options);

// Prints the tables with their predictions, as CSV where `format` is the terminal's table.
void PrintKernelTables(const KernelTableOptions& options, const driver::RunOptions& run, const std::string& system,
                       Format format, Console& console);

}  // namespace hespas::cli
