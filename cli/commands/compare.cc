// `hespas compare`: runs side by side, block by block.
#include "driver/inspect/compare.h"

#include <fmt/format.h>

#include <memory>

#include "base/system/file.h"
#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"

namespace hespas::cli {
namespace {

struct CompareCommand {
  driver::CompareOptions compare;
  std::string output;
  double fail_over = -1;  // percent; negative: not asked for
  Format format = Format::kTable;
};

std::string ComparisonText(const report::Comparison& comparison, Format format) {
  if (format == Format::kTable) return report::ToText(comparison);
  if (format == Format::kJson) return report::ToJson(comparison);
  return RenderTable(report::BlockRows(comparison), format);
}

// A page of that name, or both files in that folder.
Status Write(const report::Comparison& comparison, const std::string& output) {
  if (output.ends_with(".html")) return WriteFileAtomically(output, report::ComparisonPage(comparison));
  if (Status made = MakeFolder(output); !made) return made;
  Status written = WriteFileAtomically(output + "/compare.html", report::ComparisonPage(comparison));
  return written ? WriteFileAtomically(output + "/compare.json", report::ToJson(comparison)) : written;
}

void RunCompare(CompareCommand& options, Console& console) {
  ProgressLine progress(console.quiet);
  options.compare.run.progress = &progress;
  options.compare.run.output.command_line = console.command_line;
  const auto comparison = driver::CompareRuns(options.compare, console.diagnostics);
  progress.Clear();
  console.PrintDiagnostics();
  if (!comparison) return;
  if (!options.output.empty()) {
    if (const Status written = Write(*comparison, options.output); !written) return console.Fail(written.error());
  }
  Print(ComparisonText(*comparison, options.format));
  const double difference = comparison->LargestDifference();
  if (options.fail_over < 0 || difference <= options.fail_over) return;
  console.Fail(MakeError(
      driver::kDifferenceTooLarge,
      fmt::format("step times differ by {:.4g} %, more than the {:g} % allowed", difference, options.fail_over)));
}

}  // namespace

void AddCompareCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "compare", "sets runs that differ in one thing side by side",
                                 "hespas compare examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB,A40_48GB");
  auto options = std::make_shared<CompareCommand>();
  driver::CompareOptions& compare = options->compare;
  command.add_option("INPUT", compare.inputs, "one or two programs, or two result.json files of runs")
      ->required()
      ->expected(1, 2);
  command.add_option("--device", compare.devices, "accelerators: presets (`hespas devices`) or JSON files, as X,Y")
      ->delimiter(',');
  command
      .add_option("--system", compare.systems, "networks: presets (`hespas systems`), folders or JSON files, as X,Y")
      ->delimiter(',');
  command.add_option("--estimators,--estimator", compare.estimators, "models that cost each block, as X,Y,...")
      ->delimiter(',');
  command.add_option("--optimise", compare.optimisations, "what XLA would do first: auto, none, ..., as X,Y")
      ->delimiter(',')
      ->check(IsOptimisation());
  command.add_option("--measured", compare.measured,
                     "a profiler's trace of the same step: JAX's trace.json.gz or what torch.profiler exports");
  command.add_option("--xla-dump", compare.xla_dump,
                     "a folder that XLA wrote with --xla_dump_to: our kernels of PROGRAM against its compiled ones");
  AddXlaFlagOption(command, compare.run.optimise.xla_flags);
  AddModelOptions(command, compare.run);
  AddBackendOption(command, compare.run);
  AddTraceOptions(command, compare.run);
  AddCollectiveOptions(command, compare.run.network);
  AddAssumptionOptions(command, compare.run.program.assumptions);
  AddSplitOptions(command, compare.run);
  command
      .add_option("--fail-over", options->fail_over,
                  "exit with status 6 where a step time differs from the first by more percent")
      ->check(NonNegative());
  command.add_option("--output", options->output, "folder for compare.html and compare.json, or a page's name.html");
  AddFormatOption(command, options->format);
  command.callback([options, &console] { RunCompare(*options, console); });
}

}  // namespace hespas::cli
