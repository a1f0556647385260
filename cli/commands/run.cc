// `hespas run`: the whole pipeline, one answer.
#include <unistd.h>

#include <charconv>
#include <memory>

#include "cli/format.h"
#include "cli/options/configuration.h"
#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "driver/pipeline/output.h"
#include "report/text/run_report.h"
#include "report/timeline/perfetto.h"

namespace hespas::cli {
namespace {

constexpr DiagnosticKind kNoTimeline{
    "E0973", "A timeline was asked for of a run without a network simulation. Name a network with --system.",
    Outcome::kUsage};

struct RunCommand {
  driver::RunOptions run;
  Format format = Format::kTable;
  bool chrome = false;
};

constexpr const char* kChromeJson = "chrome-json";

std::string ResultText(const result::RunResult& result, Format format, const Console& console) {
  if (format == Format::kTable) return report::Summary(result, console.UseColour(STDOUT_FILENO));
  if (format == Format::kJson) return report::ToJson(result);
  if (format == Format::kJsonLines) return report::ToJson(result, -1) + "\n";
  return RenderTable(report::AsTable(result), format);
}

// The simulated step in the JSON form of chrome://tracing; files as for any other format.
void PrintTimeline(const driver::RunOptions& options, Console& console) {
  const auto run = driver::RunStages(options, console.diagnostics);
  console.PrintDiagnostics();
  if (!run) return;
  if (!run->simulated) {
    return console.Fail(MakeError(kNoTimeline, "no network was simulated, so there is no timeline", {},
                                  "name a network with --system"));
  }
  if (!options.output.folder.empty()) {
    const Status written = driver::WriteReport(options, *run, options.output.folder);
    if (!written) return console.Fail(written.error());
  }
  Print(report::ChromeTrace(run->View(), driver::CountersOf(*run)));
}

// A number of devices, or names of them.
void TakeDevices(const CLI::App& command, const std::vector<std::string>& given, driver::RunOptions& options) {
  const std::string& first = given.front();
  int64_t count = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), count);
  const bool counts = given.size() == 1 && error == std::errc() && end == first.data() + first.size();
  if (!counts) {
    options.parts.devices = given;
    return;
  }
  if (const std::string bad = Positive()(first); !bad.empty()) throw CLI::ValidationError("--devices", bad);
  const bool retargeted = command.count("--retarget") > 0;
  if (retargeted && OnCommandLine(command, command.get_option("--devices")))
    throw CLI::ValidationError("--devices", "is the number that --retarget gives, too; leave one of them out");
  if (retargeted) return;  // what the environment says comes last
  options.program.assumptions.devices = count;
}

void AddPlacementOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Several programs and unequal devices");
  command.add_option("MORE", options.parts.programs, "further programs that run at the same time, one for each part");
  command
      .add_option("--placement", options.parts.placement,
                  "NPUs of each program, as 0-3,4-7; by default one after the other, as many as each needs")
      ->delimiter(',');
  command
      .add_option_function<std::vector<std::string>>(
          "--devices",
          [&command, &options](const std::vector<std::string>& given) { TakeDevices(command, given, options); },
          "how many devices, as --retarget; or with several programs the device of each, where they differ")
      ->delimiter(',');
  command
      .add_option("--rank-devices", options.parts.rank_devices,
                  "devices of single NPUs that differ from --device, as 0-1=H100_80GB,3=A100_SXM_40GB")
      ->delimiter(',');
  command
      .add_option("--straggler", options.network.stragglers,
                  "NPUs that compute more slowly than their device, as 3=1.2 (a fifth longer) or 0-7=1.5")
      ->delimiter(',');
  AddConcurrencyOptions(command, options.network.concurrency);
  command
      .add_option("--slow-link", options.network.links.slow,
                  "links with less bandwidth: 5@1=0.5 (what joins NPU 5 to dimension 1 has half), 0-1=0.5 (neighbours)")
      ->delimiter(',');
  command
      .add_option("--fail-link", options.network.links.failed,
                  "lost links or adapters, as 5@1 or 0-1; their traffic takes another way")
      ->delimiter(',');
}

void AddRunOutputOptions(CLI::App& command, RunCommand& options) {
  const OptionGroup group(command, "Output");
  command.add_flag(
      "--what-if,!--no-what-if", options.run.output.what_if,
      "what faster devices and networks would give: about, and with --output by a run of each (on by default)");
  command.add_flag("--report,!--no-report", options.run.output.report,
                   "with --output: also report.html and timeline.pftrace (on by default)");
  AddOutputOption(command, options.run, "folder for traces, statistics, report.html, timeline.pftrace and result.json");
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& name) {
            options.chrome = name == kChromeJson;
            if (!options.chrome) options.format = FormatByName(name);
          },
          "what goes to stdout: table, json, jsonl, csv, md, or chrome-json: the timeline for chrome://tracing")
      ->check(OneOf({"table", "json", "jsonl", "csv", "md", kChromeJson}))
      ->default_str("table");
}

}  // namespace

void AddRunCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "run", "predicts the step time of a program on devices and a network",
                 "hespas run examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB --system A100_SXM_40GB_4GPU");
  auto options = std::make_shared<RunCommand>();
  AddConfigurationOptions(command);
  AddProgramOption(command, options->run)->required(false);
  AddEstimateOptions(command, options->run);
  command.add_flag("--whole", options->run.estimate.settings.profile.whole,
                   "with pjrt: also run the whole program on this machine's devices, beside the prediction");
  AddNetworkOptions(command, options->run);
  AddTraceOptions(command, options->run);
  AddSplitOptions(command, options->run);
  AddCollectiveOptions(command, options->run.network);
  AddRunOutputOptions(command, *options);
  AddPlacementOptions(command, options->run);
  AddAssumptionOptions(command, options->run.program.assumptions);
  command.add_flag("--require-fit", options->run.memory.require_fit,
                   "a program that needs more memory than the device has is an error");
  AddTraceFileOptions(command, options->run.output.trace_files);
  command.callback([options, &command, &console] {
    if (!ApplyConfiguration(command, options->run, console)) return;
    if (options->run.program.path.empty()) throw CLI::RequiredError("PROGRAM");
    if (!DeviceIsNamed(command, options->run, console)) return;
    options->run.output.command_line = console.command_line;
    const bool object = options->format == Format::kJson || options->format == Format::kJsonLines;
    options->run.output.list_blocks = object || !options->run.output.folder.empty();
    ProgressLine progress(console.quiet);
    options->run.progress = &progress;
    if (options->chrome) return PrintTimeline(options->run, console);
    const auto result = driver::Run(options->run, console.diagnostics);
    progress.Clear();
    console.PrintDiagnostics();
    if (result) Print(ResultText(*result, options->format, console));
  });
}

}  // namespace hespas::cli
