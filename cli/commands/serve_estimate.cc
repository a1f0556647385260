// `hespas serve-estimate`: latency and throughput of a server, from step times over batch and context.
#include <fmt/format.h>

#include <memory>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "cli/format.h"
#include "cli/pipeline_options.h"
#include "cli/request_options.h"
#include "driver/configuration/presets.h"
#include "driver/pipeline/run.h"
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

struct Times {
  serve::StepTimes prefill;
  serve::StepTimes decode;
};

// A row's step time: given, or that of the program it names.
std::optional<double> Seconds(const std::string& cell, const std::string& program, const ServeCommand& options,
                              Diagnostics& diagnostics) {
  if (!cell.empty() || program.empty()) return CsvNumber(cell);
  driver::RunOptions run = options.run;
  run.program.path = program;
  const auto result = driver::Run(run, diagnostics);
  return result ? std::optional(result->step_time.seconds()) : std::nullopt;
}

struct Columns {
  size_t phase;
  size_t batch;
  size_t context;
  std::optional<size_t> seconds;
  std::optional<size_t> program;
};

class StepTable {
 public:
  StepTable(const ServeCommand& options, Diagnostics& diagnostics) : options_(options), diagnostics_(diagnostics) {}

  std::optional<Times> Read() {
    auto text = ReadRaw(options_.table);
    auto csv = text ? ParseCsv(*text, options_.table) : Result<CsvTable>(text.error());
    if (!csv) {
      diagnostics_.Report(csv.error());
      return std::nullopt;
    }
    const auto columns = Find(*csv);
    if (!columns) return std::nullopt;
    for (size_t r = 0; r < csv->rows.size(); ++r) Add(*columns, csv->rows[r], static_cast<size_t>(csv->lines[r]));
    return diagnostics_.has_errors() ? std::nullopt : std::optional(std::move(times_));
  }

 private:
  void Bad(std::string message, size_t line) {
    diagnostics_.Error(serve::kBadStepTable, std::move(message), {.file = options_.table, .line = line},
                       serve::kStepTableHelp);
  }

  std::optional<Columns> Find(const CsvTable& csv) {
    const auto seconds = csv.Column("seconds");
    const auto program = csv.Column("program");
    bool all = seconds || program;
    if (!all) Bad("there is no column `seconds` or `program`", 1);
    const auto need = [&](const char* name) {
      const auto column = csv.Column(name);
      if (!column) Bad(fmt::format("there is no column `{}`", name), 1);
      all = all && column;
      return column.value_or(0);
    };
    const Columns columns{.phase = need("phase"),
                          .batch = need("batch"),
                          .context = need("context"),
                          .seconds = seconds,
                          .program = program};
    return all ? std::optional(columns) : std::nullopt;
  }

  void Add(const Columns& columns, const std::vector<std::string>& row, size_t line) {
    const auto batch = CsvNumber(row[columns.batch]);
    const auto context = CsvNumber(row[columns.context]);
    const bool prefill = row[columns.phase] == "prefill";
    if (!prefill && row[columns.phase] != "decode")
      return Bad(fmt::format("`{}` is no phase", row[columns.phase]), line);
    if (!batch || !(*batch > 0)) return Bad(fmt::format("`{}` is no batch", row[columns.batch]), line);
    if (!context || !(*context >= 0)) return Bad(fmt::format("`{}` is no context", row[columns.context]), line);
    const std::string cell = columns.seconds ? row[*columns.seconds] : "";
    const std::string program = columns.program ? row[*columns.program] : "";
    const bool runs = cell.empty() && !program.empty();
    if (runs && diagnostics_.has_errors()) return;  // what is wrong is known; no need to run for it
    const auto seconds = Seconds(cell, program, options_, diagnostics_);
    if (runs && !seconds) return;  // it has said why
    const bool long_enough = seconds && (prefill ? *seconds >= 0 : *seconds > 0);
    if (!long_enough) return Bad(fmt::format("`{}` is no time of a {} step", cell, row[columns.phase]), line);
    (prefill ? times_.prefill : times_.decode).Add(*batch, *context, *seconds);
  }

  const ServeCommand& options_;
  Diagnostics& diagnostics_;
  Times times_;
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
    const auto times = known ? StepTable(*options, console.diagnostics).Read() : std::nullopt;
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
