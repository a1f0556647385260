// `hespas goodput`: what a training run of many steps takes and costs.
#include <memory>

#include "base/system/file.h"
#include "cli/format.h"
#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "goodput/answer/page.h"
#include "goodput/answer/text.h"

namespace hespas::cli {
namespace {

struct GoodputCommand {
  driver::RunOptions run;
  goodput::Options goodput;
  std::string output;
  std::vector<int64_t> scaling;
  Format format = Format::kTable;
};

void AddSettings(CLI::App& command, goodput::Options& options) {
  const OptionGroup group(command, "Assumptions (defaults and sources: docs/goodput.md)");
  for (const goodput::SettingInfo& info : goodput::kSettings) {
    const std::string name(info.name);
    command.add_option_function<std::string>(
        "--" + name, [&options, name](const std::string& text) { options.settings.emplace_back(name, text); },
        std::string(info.help));
  }
}

void AddRunOptions(CLI::App& command, goodput::Options& options) {
  command.add_option("--tokens", options.tokens, "tokens (or samples) that the run works through, as 15e12")
      ->required();
  command.add_option("--batch", options.batch, "tokens of a step of all devices, where the program does not tell");
  command.add_option("--failures", options.study, "study of failure rates: llama3, rsc1, rsc2, opt, tpuv4");
  command.add_option("--mtbf", options.mtbf,
                     "mean time between failures of the whole job, as 8h, in place of a study's");
  command.add_option(
      "--checkpoint", options.checkpoint,
      "sync, async, memory (with a copy in a peer's memory) or tiers (memory, and storage now and then)");
  command.add_option("--checkpoint-interval", options.interval,
                     "a time, or young, daly, best (closed form) or simulated");
  command.add_option("--state", options.state, "size of a checkpoint, where the program does not tell");
  command
      .add_option("--spares", options.spares,
                  "spare nodes that take over; by default as many as make waiting for a repair rare")
      ->check(NonNegative());
  command.add_option("--elastic", options.elastic, "without a spare go on with fewer nodes, down to this many");
  command.add_option("--runs", options.runs, "runs to simulate");
  command.add_option("--seed", options.seed, "of the simulation");
}

std::string AnswerText(const goodput::Answer& answer, const goodput::Curves* curves, const GoodputCommand& options,
                       const Console& console) {
  if (options.format == Format::kTable) {
    return goodput::Summary(answer) + (options.scaling.empty() ? "" : "\n" + goodput::ScaleText(*curves));
  }
  if (options.format == Format::kJson) return goodput::ToJson(answer, curves, console.command_line);
  if (options.format == Format::kJsonLines) return goodput::ToJson(answer, curves, console.command_line, -1) + "\n";
  return RenderTable(goodput::FigureTable(answer), options.format);
}

void RunGoodput(GoodputCommand& options, Console& console) {
  ProgressLine progress(console.quiet);
  options.run.progress = &progress;
  const auto step = goodput::StepOf(options.run, console.diagnostics);
  progress.Clear();
  console.PrintDiagnostics();
  if (!step) return;
  const auto answer = goodput::Estimate(*step, options.goodput);
  if (!answer) return console.Fail(answer.error());
  std::optional<goodput::Curves> curves;
  if (!options.output.empty() || !options.scaling.empty()) {
    auto made = goodput::CurvesOf(*answer);
    if (!made) return console.Fail(made.error());
    const auto devices = options.scaling.empty() ? goodput::AroundDevices(step->devices) : options.scaling;
    made->devices = goodput::Scale(*answer, options.run, devices);
    made->knee = goodput::Knee(made->devices);
    curves = *std::move(made);
  }
  if (!options.output.empty()) {
    const Status written = WriteFileAtomically(options.output, goodput::Page(*answer, *curves, console.command_line));
    if (!written) return console.Fail(written.error());
  }
  Print(AnswerText(*answer, curves ? &*curves : nullptr, options, console));
}

}  // namespace

void AddGoodputCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "goodput", "what a training run takes: days, failures, energy, money",
                 "hespas goodput examples/llama3-100m-4dev.mlir.gz --device A100_SXM_80GB --devices 64 --tokens 2e12");
  auto options = std::make_shared<GoodputCommand>();
  AddProgramOption(command, options->run);
  AddEstimateOptions(command, options->run);
  command.add_option("--system", options->run.system.name,
                     "network: a preset (`hespas systems`), a folder or a JSON file");
  command
      .add_option("--devices", options->run.program.assumptions.devices, "carry the program over to that many devices")
      ->check(Positive());
  AddRunOptions(command, options->goodput);
  AddSettings(command, options->goodput);
  command
      .add_option(
          "--scaling", options->scaling,
          "numbers of devices to compare, as 512,1024,2048; by default an eighth to twice as many, with --output")
      ->delimiter(',')
      ->check(Positive());
  command.add_option("--output", options->output,
                     "page (HTML) with the waterfall, sensitivities and numbers of devices");
  AddFormatOption(command, options->format);
  command.callback([options, &command, &console] {
    if (DeviceIsNamed(command, options->run, console)) RunGoodput(*options, console);
  });
}

}  // namespace hespas::cli
