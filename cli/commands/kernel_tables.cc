#include "cli/commands/kernel_tables.h"

#include "cli/format.h"
#include "validate/kernel_tables.h"

namespace hespas::cli {

void AddKernelTableOptions(CLI::App& command, KernelTableOptions& options) {
  command.add_option("--kernels", options.kernels, "predict the single kernels of this CSV table on --device");
  command.add_option("--collectives", options.collectives,
                     "predict the single collectives of this CSV table on --system");
}

void PrintKernelTables(const KernelTableOptions& options, const driver::RunOptions& run, const std::string& system,
                       Format format, Console& console) {
  const validate::TableModel model{.estimator = run.estimate.estimator, .dataflow = run.estimate.settings.dataflow};
  if (format == Format::kTable) format = Format::kCsv;
  std::string text;
  if (!options.kernels.empty()) {
    const auto table = validate::EstimateKernelTable(options.kernels, run.device.name, model, console.diagnostics);
    if (table) text += RenderTable(*table, format);
  }
  if (!options.collectives.empty()) {
    const auto table = validate::EstimateCollectiveTable(options.collectives, system, model, console.diagnostics);
    if (table) text += RenderTable(*table, format);
  }
  console.PrintDiagnostics();
  Print(text);
}

}  // namespace hespas::cli
