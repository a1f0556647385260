// `hespas trace`: Chakra execution traces without a network simulation.
#include <fmt/format.h>

#include <memory>

#include "cli/options/configuration.h"
#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "driver/pipeline/output.h"

namespace hespas::cli {
namespace {

void Trace(const driver::RunOptions& options, Console& console) {
  const auto prepared = driver::Prepare(options, console.diagnostics);
  if (!prepared) return;
  const auto estimated = driver::EstimateBlocks(options, *prepared, console.diagnostics);
  if (!estimated) return;
  const auto traces = driver::AssembleTraces(options, *prepared, *estimated, nullptr, console.diagnostics);
  if (!traces) return;
  Status status = driver::PrepareFolder(options.output.folder, options.output.clean);
  if (status) status = driver::WriteTraces(*traces, options.output.folder, options.output.trace_files);
  if (!status) {
    console.diagnostics.Report(status.error());
    return;
  }
  if (console.quiet) return;
  fmt::print(stderr, "{} traces of {} nodes in {}\n", traces->program_of_rank.size(),
             traces->programs.empty() ? 0 : traces->programs[0].nodes.size(), options.output.folder);
}

}  // namespace

void AddTraceCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "trace", "writes Chakra execution traces only",
                 "hespas trace examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB --output traces");
  auto options = std::make_shared<driver::RunOptions>();
  AddConfigurationOptions(command);
  AddProgramOption(command, *options)->required(false);
  AddEstimateOptions(command, *options);
  AddTraceOptions(command, *options);
  AddSplitOptions(command, *options);
  AddOutputOption(command, *options, "folder for dev.<id>.et and comm_group.json");
  AddTraceFileOptions(command, options->output.trace_files);
  command.callback([options, &command, &console] {
    if (!ApplyConfiguration(command, *options, console)) return;
    if (options->program.path.empty()) throw CLI::RequiredError("PROGRAM");
    if (options->output.folder.empty()) throw CLI::RequiredError("--output");
    if (!DeviceIsNamed(command, *options, console)) return;
    ProgressLine progress(console.quiet);
    options->progress = &progress;
    Trace(*options, console);
    console.PrintDiagnostics();
  });
}

}  // namespace hespas::cli
