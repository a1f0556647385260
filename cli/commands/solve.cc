// `hespas solve`: which value of a setting meets a target.
#include "sweep/solve/solve.h"

#include <fmt/format.h>

#include <memory>

#include "cli/options/device_choice.h"
#include "cli/options/pipeline_options.h"

namespace hespas::cli {
namespace {

struct SolveCommand {
  sweep::SolveOptions solve;
  bool json = false;
};

void RunSolve(const SolveCommand& options, Console& console) {
  const auto solution = sweep::Solve(options.solve, console.diagnostics);
  if (console.PrintDiagnostics() || !solution) return;
  Print(options.json ? sweep::ToJson(*solution, console.command_line) : sweep::ToText(*solution));
  if (solution->met) return;
  console.Fail(MakeError(sweep::kNotMet, fmt::format("nothing meets `{}`", options.solve.until), {},
                         "widen the range with --between FROM,TO, or ask for less"));
}

}  // namespace

void AddSolveCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "solve", "finds the value of a setting that meets a target",
                                 "hespas solve examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB "
                                 "--find system.bandwidth --until \"exposed_communication < 10 %\"");
  auto options = std::make_shared<SolveCommand>();
  driver::RunOptions& run = options->solve.run;
  AddProgramOption(command, run);
  {
    const OptionGroup group(command, "Question");
    command
        .add_option("--find", options->solve.find,
                    "setting to find: a figure as in --set (system.bandwidth[1]), devices, batch or bind.NAME")
        ->required();
    command
        .add_option("--until", options->solve.until,
                    "target: a result, < or >, and a quantity; of a time, % means of the step time")
        ->required();
    command.add_option("--between", options->solve.between,
                       "FROM,TO to search in; by default a hundredth to a hundred times today's value");
  }
  AddEstimateOptions(command, run);
  AddNetworkOptions(command, run);
  AddTraceOptions(command, run);
  AddCollectiveOptions(command, run.network);
  AddSplitOptions(command, run);
  AddAssumptionOptions(command, run.program.assumptions);
  command
      .add_option_function<std::string>(
          "--format", [options](const std::string& name) { options->json = name == "json"; },
          "what goes to stdout: table or json")
      ->check(OneOf({"table", "json"}))
      ->default_str("table");
  command.callback([options, &command, &console] {
    if (DeviceIsNamed(command, options->solve.run, console)) RunSolve(*options, console);
  });
}

}  // namespace hespas::cli
