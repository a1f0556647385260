// `hespas explain`: what an error code means; why a program, a block, an operation or a collective takes its time.
#include "driver/inspect/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/format.h"
#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "driver/inspect/tables/error_codes.h"
#include "report/step/critical_path.h"
#include "report/text/run_report.h"

namespace hespas::cli {
namespace {

struct ExplainCommand {
  driver::RunOptions run;
  std::vector<std::string> what;
  Format format = Format::kTable;
};

bool IsErrorCode(const std::string& word) {
  constexpr size_t kLength = 5;
  return word.size() == kLength && (word[0] == 'E' || word[0] == 'W') &&
         std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void ExplainCode(const std::string& code, Console& console) {
  const Result<driver::ErrorCode> found = driver::FindErrorCode(code);
  if (!found) return console.Fail(found.error());
  Print(fmt::format("{}: {}\n", code, found->explanation));
  if (found->exit_status > 0) Print(fmt::format("Exit status {}.\n", found->exit_status));
}

// The critical path of the whole step.
void ExplainStep(const driver::Finished& run, Format format) {
  const auto path = report::CriticalPath(run.View());
  if (format != Format::kTable) return Print(RenderTable(report::PathTable(path, false), format));
  Print(fmt::format("step time {} ({} ps) on {} x {}: what it waits for, from the first picosecond to the last\n\n",
                    report::HumanTime(run.result.step_time), run.result.step_time.value, run.result.npus,
                    run.result.device));
  Print(report::ToText(report::PathTable(report::Joined(path), true)));
}

void ExplainOne(const driver::Finished& run, const ExplainCommand& options, const std::string& what, Console& console) {
  const auto explained = driver::Explain(run, options.run, what);
  if (!explained) return console.Fail(explained.error());
  if (options.format == Format::kTable) return Print(report::ToText(*explained));
  if (options.format == Format::kJson) return Print(report::ToJson(*explained));
  if (options.format == Format::kJsonLines) return Print(report::ToJson(*explained, -1));
  Print(RenderTable(report::ToTable(*explained), options.format));
}

}  // namespace

void AddExplainCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(
      app, console, "explain",
      "says why a program, a block, an operation or a collective takes its time; or what an error code means",
      "hespas explain examples/llama3-100m-4dev.mlir.gz all_gather --device A100_SXM_40GB");
  auto options = std::make_shared<ExplainCommand>();
  command
      .add_option("PROGRAM", options->run.program.path,
                  "StableHLO or HLO program, as for `hespas run`; or an error code such as E0001")
      ->required();
  command.add_option(
      "WHAT", options->what,
      "a block's number, a kernel of `hespas optimise --explain` (kernel 12), an operation (dot_general), a collective "
      "(all_gather, collective 3); nothing: the critical path of the step");
  AddEstimateOptions(command, options->run);
  AddNetworkOptions(command, options->run);
  AddTraceOptions(command, options->run);
  AddCollectiveOptions(command, options->run.network);
  AddAssumptionOptions(command, options->run.program.assumptions);
  AddSplitOptions(command, options->run);
  AddFormatOption(command, options->format);
  command.callback([options, &command, &console] {
    if (IsErrorCode(options->run.program.path)) return ExplainCode(options->run.program.path, console);
    if (!DeviceIsNamed(command, options->run, console)) return;
    options->run.output.explain = true;
    ProgressLine progress(console.quiet);
    options->run.progress = &progress;
    const auto run = driver::RunStages(options->run, console.diagnostics);
    progress.Clear();
    console.PrintDiagnostics();
    if (!run) return;
    if (options->what.empty()) return ExplainStep(*run, options->format);
    ExplainOne(*run, *options, fmt::format("{}", fmt::join(options->what, " ")), console);
  });
}

}  // namespace hespas::cli
