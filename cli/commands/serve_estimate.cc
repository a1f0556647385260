// `hespas serve-estimate`: latency and throughput of a server, from step times over batch and context.
#include <fmt/format.h>

#include <memory>

#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "cli/options/request_options.h"
#include "cli/options/step_table.h"
#include "driver/configuration/presets.h"
#include "serve/serving.h"

namespace hespas::cli {
namespace {

struct ServeCommand {
  std::string table;
  std::string arrivals = "poisson";
  serve::ServingOptions serving;
  driver::RunOptions run;  // of programs that the table names
  Format format = Format::kTable;
};

report::Table AsTable(const serve::ServingEstimate& e) {
  report::Table table;
  table.rows.emplace_back();
  const auto add = [&](std::string name, double value) {
    table.columns.push_back({std::move(name), report::Align::kRight});
    table.rows[0].push_back(fmt::format("{:.6g}", value));
  };
  const auto percentiles = [&](const std::string& name, const serve::Percentiles& p) {
    add(name + "_mean_s", p.mean);
    add(name + "_p50_s", p.p50);
    add(name + "_p90_s", p.p90);
    add(name + "_p95_s", p.p95);
    add(name + "_p99_s", p.p99);
  };
  percentiles("latency", e.latency);
  percentiles("wait", e.wait);
  percentiles("first_token", e.first_token);
  percentiles("per_token", e.per_token);
  add("requests_per_second", e.requests_per_second);
  add("tokens_per_second", e.tokens_per_second);
  add("utilisation", e.utilisation);
  add("mean_batch", e.mean_batch);
  return table;
}

void Warn(const serve::ServingEstimate& estimate, Diagnostics& diagnostics) {
  if (estimate.beyond_table) {
    diagnostics.Warning(serve::kBeyondStepTable, "batches or contexts go beyond the table of step times", {},
                        "add rows of the largest batch and of the longest prompt and output together");
  }
  if (estimate.overloaded) {
    diagnostics.Warning(serve::kOverloaded, "requests arrive faster than they are answered", {},
                        "lower --rate, or raise --max-batch where memory allows");
  }
}

// A misspelt device or system is an error also where no row of the table names a program.
bool KnowsHardware(const driver::RunOptions& run, Diagnostics& diagnostics) {
  Diagnostics found;
  const bool device = driver::DeviceOf(run, found).has_value();
  const bool system =
      run.system.name == driver::kAutoSystem || driver::LoadSystemPreset(run.system.name, found).has_value();
  for (const Diagnostic& diagnostic : found.all()) {
    if (!diagnostic.is_warning()) diagnostics.Report(diagnostic);  // the runs tell the warnings
  }
  return device && system;
}

// One line for each figure reads better than one wide row.
std::string Upright(const report::Table& wide) {
  report::Table table{.columns = {{"figure"}, {"value", report::Align::kRight}}, .rows = {}};
  for (size_t c = 0; c < wide.columns.size(); ++c) table.rows.push_back({wide.columns[c].name, wide.rows[0][c]});
  return report::ToText(table);
}

}  // namespace

void AddServeEstimateCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "serve-estimate", "latency and throughput of a server with continuous batching",
                 "hespas serve-estimate examples/serving/gpt.csv --rate 10 --prompt 512 --output geometric:128");
  auto options = std::make_shared<ServeCommand>();
  serve::ServingOptions& serving = options->serving;
  command.add_option("TABLE", options->table, "CSV of step times: phase, batch, context, seconds (or program)")
      ->required();
  command.add_option("--rate", serving.rate, "requests a second");
  command.add_option("--arrivals", options->arrivals, "poisson or regular")->check(OneOf({"poisson", "regular"}));
  command.add_option("--prompt", serving.prompt, "tokens: a number, uniform:A:B, exponential:MEAN or geometric:MEAN");
  command.add_option("--output", serving.output, "output tokens of a request, in the same form");
  command.add_option("--max-batch", serving.max_batch, "requests that decode together");
  AddRequestOptions(command, serving.requests, serving.warm_up, serving.seed);
  AddEstimateOptions(command, options->run);
  command.add_option("--system", options->run.system.name, "network of programs that the table names");
  AddFormatOption(command, options->format);
  command.callback([options, &console] {
    options->serving.regular = options->arrivals == "regular";
    const bool known = KnowsHardware(options->run, console.diagnostics);
    const auto times = known ? ReadStepTable(options->table, options->run, console.diagnostics) : std::nullopt;
    if (console.PrintDiagnostics() || !times) return;
    const auto estimate = serve::Serve(times->prefill, times->decode, options->serving);
    if (!estimate) return console.Fail(estimate.error());
    Warn(*estimate, console.diagnostics);
    console.PrintDiagnostics();
    const report::Table table = AsTable(*estimate);
    Print(options->format == Format::kTable ? Upright(table) : RenderTable(table, options->format));
  });
}

}  // namespace hespas::cli
