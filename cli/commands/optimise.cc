// `hespas optimise`: the program as XLA would run it, or what there is to say about it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text/suggest.h"
#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "driver/inspect/kernels/explained_kernels.h"
#include "driver/inspect/kernels/kernel_ids.h"
#include "driver/stages/estimate.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "ir/printer.h"
#include "report/step/op_labels.h"

namespace hespas::cli {
namespace {

constexpr DiagnosticKind kUnknownOp{
    "E0544", "`hespas optimise --explain --op` was asked for an op that the program does not have.", Outcome::kUsage};

struct OptimiseCommand {
  driver::RunOptions run;
  std::string format = "mlir";
  bool explain = false;
  std::vector<std::string> explained;  // names or lines; all where empty
  bool kernels = false;
};

report::Table SummaryTable(const driver::Summary& summary) {
  using report::Align;
  report::Table table{.columns = {{"what"}, {"count", Align::kRight}, {"bytes", Align::kRight}}, .rows = {}};
  const auto add = [&](std::string_view what, int64_t count, int64_t bytes) {
    table.rows.push_back({std::string(what), std::to_string(count), std::to_string(bytes)});
  };
  int64_t bytes[3] = {};
  for (const driver::KernelSummary& kernel : summary.kernels) bytes[static_cast<size_t>(kernel.sort)] += kernel.bytes;
  add("fusions", summary.fusions, bytes[0]);
  add("library calls", summary.library_calls, bytes[1]);
  add("other kernels", summary.other, bytes[2]);
  add("kernels", summary.total(), summary.bytes_accessed);
  for (const driver::CollectiveSummary& entry : summary.collectives) add(entry.op, entry.count, entry.bytes);
  return table;
}

// Of an op "stablehlo.add (line 12)": "stablehlo.add", and "add".
std::string_view NameOf(std::string_view op) { return op.substr(0, op.find(' ')); }
std::string_view ShortNameOf(std::string_view op) { return report::ShortName(NameOf(op)); }

// Whether an op "stablehlo.add (line 12)" is called "stablehlo.add", "add" or "12".
bool IsCalled(std::string_view op, std::string_view wanted) {
  return wanted == NameOf(op) || wanted == ShortNameOf(op) || op.ends_with(fmt::format(" (line {})", wanted));
}

// Those of the wanted ops, all where none are named.
Result<report::Table> ExplanationTable(const driver::ExplainedKernels& kernels,
                                       const std::vector<std::string>& wanted) {
  const std::vector<optimise::Explanation>& explanations = kernels.explanations;
  const driver::KernelIds ids(kernels.module, kernels.summary);
  report::Table table{.columns = {{"op"}, {"kernel"}, {"reason"}}, .rows = {}};
  std::vector<char> found(wanted.size(), 0);
  for (const optimise::Explanation& entry : explanations) {
    bool shown = wanted.empty();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!IsCalled(entry.op, wanted[i])) continue;
      shown = true;
      found[i] = 1;
    }
    if (shown) table.rows.push_back({entry.op, ids.Renumbered(entry.kernel), ids.Renumbered(entry.reason)});
  }
  const auto missing = std::find(found.begin(), found.end(), 0);
  if (missing == found.end()) return table;
  std::vector<std::string> names;
  names.reserve(explanations.size());
  for (const optimise::Explanation& entry : explanations) names.emplace_back(ShortNameOf(entry.op));
  const std::string& word = wanted[static_cast<size_t>(missing - found.begin())];
  return MakeError(kUnknownOp, fmt::format("the program has no op `{}`, neither by name nor by line", word), {},
                   DidYouMean(word, names, "give an op's name, as stablehlo.add or add, or its line in the program"));
}

void RunOptimise(OptimiseCommand& command, Console& console) {
  command.run.optimise.expand_kernels = command.format == "stablehlo";
  auto module = driver::ReadModule(command.run.program.path, nullptr, console.diagnostics);
  auto device = hardware::LoadDevice(command.run.device.name, console.diagnostics);
  std::optional<ir::Module> optimised;
  optimise::Report report;
  report.explain = command.explain || command.kernels;
  if (module && device) {
    optimised = driver::OptimiseModule(*module, command.run.optimise, *device, console.diagnostics, &report);
  }
  console.PrintDiagnostics();
  if (!optimised) return;
  const bool prints = command.format == "mlir" || command.format == "stablehlo";
  if (prints && !command.explain && !command.kernels) return Print(ir::PrintGeneric(*optimised, {.locations = true}));
  const driver::Summary summary = driver::Summarise(*optimised);
  const auto estimator = estimate::MakeEstimator(
      "calibrated", *device, {.buffers = driver::CommandBuffersOf(command.run.optimise, *optimised)});
  if (!estimator) {
    console.diagnostics.Report(estimator.error());
    console.PrintDiagnostics();
    return;
  }
  if (command.format == "json" && !command.explain && !command.kernels) {
    return Print(driver::SummaryJson(summary, report.passes));
  }
  const driver::ExplainedKernels kernels{*optimised, summary, report.explanations, **estimator};
  // For a reader a row a kernel; a program, and who asks for an op, gets one for each op.
  const bool by_op = !command.explained.empty() || !(prints || command.format == "table");
  const Result<report::Table> table = !command.explain
                                          ? command.kernels ? driver::KernelTable(kernels) : SummaryTable(summary)
                                      : by_op ? ExplanationTable(kernels, command.explained)
                                              : driver::ReasonTable(kernels);
  if (table) return Print(RenderTable(*table, FormatByName(prints ? "table" : command.format)));
  console.diagnostics.Report(table.error());
  console.PrintDiagnostics();
}

}  // namespace

void AddOptimiseCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "optimise", "fuses and rewrites a program as XLA would",
                                 "hespas optimise examples/llama3-100m-4dev.mlir.gz --format json");
  auto options = std::make_shared<OptimiseCommand>();
  AddProgramOption(command, options->run);
  command.add_option("--device", options->run.device.name,
                     "accelerator whose costs decide on fusion: preset or JSON file");
  AddWordOption(command, "--optimise", options->run.optimise.mode,
                "auto, none (summarise the program as it is), xla-gpu, xla-tpu, xla-cpu, or xla (its own compiler)");
  AddXlaFlagOption(command, options->run.optimise.xla_flags);
  AddScheduleLimitOption(command, options->run.optimise.schedule_limit);
  command.add_option("--disable", options->run.optimise.disabled, "passes to skip");
  command.add_option("--after", options->run.optimise.stop_after, "last pass to run");
  CLI::Option* explain = command.add_flag(
      "--explain", options->explain,
      "why each kernel is one, the longest first; with --op and in json, jsonl, csv and md for each op");
  command.add_option("--op", options->explained, "ops to explain: names (stablehlo.add or add) or lines")
      ->needs(explain);
  command.add_flag("--kernels", options->kernels, "one row for each kernel, the longest first");
  command
      .add_option(
          "--format", options->format,
          "what goes to stdout: the module (mlir), the same with fusions inlined, so that any compiler can run it "
          "(stablehlo), or counts as table, json, jsonl, csv or md")
      ->check(OneOf({"mlir", "stablehlo", "table", "json", "jsonl", "csv", "md"}));
  command.callback([options, &console] { RunOptimise(*options, console); });
}

}  // namespace hespas::cli
