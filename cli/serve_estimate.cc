// `hespas serve-estimate`: latency and throughput of a server, from step times over batch and context.
#include <fmt/format.h>

#include <memory>

#include "base/csv_text.h"
#include "base/file.h"
#include "cli/format.h"
#include "cli/pipeline_options.h"
#include "driver/serving.h"

namespace hespas::cli {
namespace {

struct ServeCommand {
  std::string table;
  std::string arrivals = "poisson";
  driver::ServingOptions serving;
  driver::RunOptions run;  // of programs that the table names
  Format format = Format::kTable;
};

struct Times {
  driver::StepTimes prefill;
  driver::StepTimes decode;
};

// A row's step time: given, or that of the program it names.
std::optional<double> Seconds(const std::string& cell, const std::string& program, const ServeCommand& options,
                              Diagnostics& diagnostics) {
  if (const auto seconds = CsvNumber(cell)) return seconds;
  if (program.empty()) return std::nullopt;
  driver::RunOptions run = options.run;
  run.program = program;
  const auto result = driver::Run(run, diagnostics);
  return result ? std::optional(result->step_time.seconds()) : std::nullopt;
}

std::optional<Times> ReadTimes(const ServeCommand& options, Diagnostics& diagnostics) {
  const auto bad = [&](std::string message, size_t line) {
    diagnostics.Error(driver::kBadStepTable, std::move(message), {.file = options.table, .line = line});
    return std::nullopt;
  };
  auto text = ReadRaw(options.table);
  auto csv = text ? ParseCsv(*text, options.table) : Result<CsvTable>(text.error());
  if (!csv) {
    diagnostics.Report(csv.error());
    return std::nullopt;
  }
  const auto phase = csv->Column("phase");
  const auto batch = csv->Column("batch");
  const auto context = csv->Column("context");
  const auto seconds = csv->Column("seconds");
  const auto program = csv->Column("program");
  if (!phase || !batch || !context || (!seconds && !program)) return bad("a column is missing", 1);
  Times times;
  for (size_t r = 0; r < csv->rows.size(); ++r) {
    const auto& row = csv->rows[r];
    const auto line = static_cast<size_t>(csv->lines[r]);
    const auto b = CsvNumber(row[*batch]);
    const auto c = CsvNumber(row[*context]);
    const bool prefill = row[*phase] == "prefill";
    if (!b || !c || *b <= 0 || *c < 0 || (!prefill && row[*phase] != "decode"))
      return bad("a cell makes no sense", line);
    const auto s = Seconds(seconds ? row[*seconds] : "", program ? row[*program] : "", options, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    if (!s || *s < 0 || (!prefill && *s <= 0)) return bad("no step time", line);
    (prefill ? times.prefill : times.decode).Add(*b, *c, *s);
  }
  return times;
}

report::Table AsTable(const driver::ServingEstimate& e) {
  report::Table table;
  table.rows.emplace_back();
  const auto add = [&](std::string name, double value) {
    table.columns.push_back({std::move(name), report::Align::kRight});
    table.rows[0].push_back(fmt::format("{:.6g}", value));
  };
  const auto percentiles = [&](const std::string& name, const driver::Percentiles& p) {
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
                 "hespas serve-estimate examples/serving/gpt.csv --rate 20 --prompt 512 --output geometric:128");
  auto options = std::make_shared<ServeCommand>();
  driver::ServingOptions& serving = options->serving;
  command.add_option("TABLE", options->table, "CSV of step times: phase, batch, context, seconds (or program)")
      ->required();
  command.add_option("--rate", serving.rate, "requests a second");
  command.add_option("--arrivals", options->arrivals, "poisson or regular")->check(OneOf({"poisson", "regular"}));
  command.add_option("--prompt", serving.prompt, "tokens: a number, uniform:A:B, exponential:MEAN or geometric:MEAN");
  command.add_option("--output", serving.output, "tokens that a request asks for, in the same way");
  command.add_option("--max-batch", serving.max_batch, "requests that decode together");
  command.add_option("--requests", serving.requests, "requests to simulate");
  command.add_option("--warm-up", serving.warm_up, "requests at the beginning that the figures leave out");
  command.add_option("--seed", serving.seed, "of the random arrivals and lengths");
  AddEstimateOptions(command, options->run);
  command.add_option("--system", options->run.system, "network of programs that the table names");
  AddFormatOption(command, options->format);
  command.callback([options, &console] {
    options->serving.regular = options->arrivals == "regular";
    const auto times = ReadTimes(*options, console.diagnostics);
    if (console.PrintDiagnostics() || !times) return;
    const auto estimate = driver::Serve(times->prefill, times->decode, options->serving);
    if (!estimate) return console.Fail(estimate.error());
    const report::Table table = AsTable(*estimate);
    Print(options->format == Format::kTable ? Upright(table) : RenderTable(table, options->format));
  });
}

}  // namespace hespas::cli
