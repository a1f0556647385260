// `hespas estimate`: the work and time of a program's compute on one device, without a network.
#include <unistd.h>

#include <memory>

#include "cli/commands/kernel_tables.h"
#include "cli/format.h"
#include "cli/options/configuration.h"
#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "driver/pipeline/pipeline.h"
#include "report/text/headline.h"
#include "report/text/program/blocks.h"

namespace hespas::cli {
namespace {

// Up to the traces: what `run` says of a step without a network.
std::optional<result::RunResult> EstimateOne(driver::RunOptions& options, driver::FreshStages& stages,
                                             Diagnostics& diagnostics) {
  options.network.backend = driver::NetworkBackend::kNone;
  if (!driver::MakeTraces(options, stages, diagnostics)) return std::nullopt;
  return driver::Conclude(options, *stages.prepared, *stages.estimated, *stages.traces, nullptr, std::nullopt,
                          diagnostics);
}

}  // namespace

void AddEstimateCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "estimate", "estimates a program's operations on one device, without a network",
                 "hespas estimate examples/llama3-100m-4dev.mlir.gz --device H100_80GB");
  struct Options {
    driver::RunOptions run;
    KernelTableOptions tables;
    std::string system;
    Format format = Format::kTable;
  };
  auto options = std::make_shared<Options>();
  AddConfigurationOptions(command);
  AddProgramOption(command, options->run)->required(false);
  AddEstimateOptions(command, options->run);
  AddKernelTableOptions(command, options->tables);
  if (command.get_option_no_throw("--system") == nullptr) {
    command.add_option("--system", options->system,
                       "system of --collectives, or one that names the device: a preset (`hespas systems`) or a file");
  }
  AddFormatOption(command, options->format);
  command.callback([options, &command, &console] {
    if (!ApplyConfiguration(command, options->run, console)) return;
    if (!options->system.empty()) options->run.system.name = options->system;  // may name the device
    if (options->tables.wanted()) {
      if (!options->tables.kernels.empty() && !DeviceIsNamed(command, options->run, console)) return;
      PrintKernelTables(options->tables, options->run, options->system, options->format, console);
      return;
    }
    if (options->run.program.path.empty()) throw CLI::RequiredError("PROGRAM, --kernels or --collectives");
    if (!DeviceIsNamed(command, options->run, console)) return;
    ProgressLine progress(console.quiet);
    options->run.progress = &progress;
    driver::FreshStages stages;
    const auto answer = EstimateOne(options->run, stages, console.diagnostics);
    progress.Clear();
    console.PrintDiagnostics();
    if (!answer) return;
    const bool for_people = options->format == Format::kTable;
    if (for_people) Print(report::HeadlineText(*answer, console.UseColour(STDOUT_FILENO)) + "\n");
    Print(RenderTable(report::OpTable(stages.estimated->ops, for_people), options->format));
  });
}

}  // namespace hespas::cli
