// `hespas optimise`: the program as XLA would run it, or what there is to say about it.
#include <fmt/format.h>

#include <memory>

#include "cli/format.h"
#include "cli/pipeline_options.h"
#include "driver/optimise_stage.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "ir/printer.h"

namespace hespas::cli {
namespace {

struct OptimiseCommand {
  driver::RunOptions run;
  driver::OptimiseOptions optimise;
  std::string format = "mlir";
  bool explain = false;
  bool kernels = false;
};

report::Table SummaryTable(const optimise::Summary& summary) {
  using report::Align;
  report::Table table{.columns = {{"what"}, {"count", Align::kRight}, {"bytes", Align::kRight}}, .rows = {}};
  const auto add = [&](std::string_view what, int64_t count, int64_t bytes) {
    table.rows.push_back({std::string(what), std::to_string(count), std::to_string(bytes)});
  };
  int64_t bytes[3] = {};
  for (const optimise::KernelSummary& kernel : summary.kernels) bytes[static_cast<size_t>(kernel.sort)] += kernel.bytes;
  add("fusions", summary.fusions, bytes[0]);
  add("library calls", summary.library_calls, bytes[1]);
  add("other kernels", summary.other, bytes[2]);
  add("kernels", summary.total(), summary.bytes_accessed);
  for (const optimise::CollectiveSummary& entry : summary.collectives) add(entry.op, entry.count, entry.bytes);
  return table;
}

// One row a kernel: what it is, moves and computes, its time on the device, and its operand and result types.
report::Table KernelTable(const ir::Module& module, const optimise::Summary& summary,
                          const estimate::Estimator& estimator) {
  using report::Align;
  report::Table table{.columns = {{"kernel"},
                                  {"bytes", Align::kRight},
                                  {"flops", Align::kRight},
                                  {"time_us", Align::kRight},
                                  {"types"}},
                      .rows = {}};
  estimate::Notes notes;
  for (const optimise::KernelSummary& kernel : summary.kernels) {
    std::string types;
    for (const ir::ValueId value : module.operands(kernel.op))
      types += module.types().Text(module.type_id(value)) + " ";
    types += "->";
    for (const ir::ValueId value : module.results(kernel.op)) types += " " + module.types().Text(module.type_id(value));
    const Time time = estimator.EstimateOp(module, kernel.op, notes).time;
    table.rows.push_back({std::string(module.name(kernel.op)), std::to_string(kernel.bytes),
                          std::to_string(kernel.flops), fmt::format("{:.3f}", time.seconds() * 1e6), types});
  }
  return table;
}

report::Table ExplanationTable(const std::vector<optimise::Explanation>& explanations) {
  report::Table table{.columns = {{"op"}, {"kernel"}, {"reason"}}, .rows = {}};
  for (const optimise::Explanation& entry : explanations) table.rows.push_back({entry.op, entry.kernel, entry.reason});
  return table;
}

void Run(OptimiseCommand& command, Console& console) {
  command.optimise.expand_kernels = command.format == "stablehlo";
  auto module = driver::ReadModule(command.run.program, nullptr, console.diagnostics);
  auto device = hardware::LoadDevice(command.run.device, console.diagnostics);
  std::optional<ir::Module> optimised;
  optimise::Report report;
  report.explain = command.explain;
  if (module && device) {
    optimised = driver::OptimiseModule(std::move(*module), command.optimise, *device, console.diagnostics, &report);
  }
  console.PrintDiagnostics();
  if (!optimised) return;
  const bool prints = command.format == "mlir" || command.format == "stablehlo";
  if (prints && !command.explain && !command.kernels) return Print(ir::PrintGeneric(*optimised));
  const optimise::Summary summary = optimise::Summarise(*optimised);
  const auto estimator = estimate::MakeEstimator("calibrated", *device, {});
  if (!estimator) {
    console.diagnostics.Report(estimator.error());
    console.PrintDiagnostics();
    return;
  }
  if (command.format == "json" && !command.explain && !command.kernels) {
    return Print(driver::SummaryJson(summary, report.passes));
  }
  const report::Table table = command.explain   ? ExplanationTable(report.explanations)
                              : command.kernels ? KernelTable(*optimised, summary, **estimator)
                                                : SummaryTable(summary);
  Print(RenderTable(table, FormatByName(prints ? "table" : command.format)));
}

}  // namespace

void AddOptimiseCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "optimise", "fuses and rewrites a program as XLA would",
                                 "hespas optimise examples/llama3-100m-4dev.mlir.gz --format json");
  auto options = std::make_shared<OptimiseCommand>();
  AddProgramOption(command, options->run);
  command.add_option("--device", options->run.device, "accelerator whose costs decide on fusion: preset or JSON file");
  command
      .add_option("--optimise", options->optimise.mode,
                  "auto, none (summarise the program as it is), xla-gpu, xla-tpu, xla-cpu, or xla (its own compiler)")
      ->check(IsOptimisation());
  command.add_option("--disable", options->optimise.disabled, "passes to leave out");
  command.add_option("--after", options->optimise.stop_after, "last pass to run");
  command.add_flag("--explain", options->explain, "for each op its kernel, and why");
  command.add_flag("--kernels", options->kernels, "one row a kernel");
  command
      .add_option(
          "--format", options->format,
          "what goes to stdout: the module (mlir), the same with kernels taken apart so that any compiler runs it "
          "(stablehlo), or counts as table, json, jsonl, csv or md")
      ->check(OneOf({"mlir", "stablehlo", "table", "json", "jsonl", "csv", "md"}));
  command.callback([options, &console] { Run(*options, console); });
}

}  // namespace hespas::cli
