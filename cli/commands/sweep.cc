// `hespas sweep`: many points of one file, and what they answer.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/text/json.h"
#include "base/text/suggest.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "report/text/headline.h"
#include "sweep/best_runs.h"
#include "sweep/run_sweep.h"

namespace hespas::cli {
namespace {

inline constexpr DiagnosticKind kBadPoints{
    "E0948", "--points takes places in the list of points as FIRST-LAST, from 0 on; --dry-run lists them.",
    Outcome::kUsage};

constexpr int kInterruptedStatus = 130;
constexpr size_t kAskFrom = 1'000'000;

struct SweepCommand {
  std::string path;
  std::string output;
  Format format = Format::kTable;
  unsigned threads = 0;
  bool dry_run = false;
  bool estimate_cost = false;
  bool yes = false;
  bool clean = false;
  std::string points;
  bool describe = false;
  bool feasible = false;
  std::vector<std::string> merge;
  std::string minimise;
  std::vector<std::string> constraints;
  double tokens = 0;
  std::string prices;
};

std::atomic<bool> stop_asked{false};

// The first Ctrl-C lets the points under way finish, the second ends at once.
extern "C" void OnStop(int) {
  if (stop_asked.exchange(true)) _exit(kInterruptedStatus);
  constexpr char kText[] = "\nfinishing the points under way\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
}

std::optional<sweep::SweepFile> ReadFile(const SweepCommand& options, Console& console) {
  auto file = sweep::ReadSweepFile(options.path, console.diagnostics);
  if (!file) return std::nullopt;
  if (!options.minimise.empty()) file->minimise = options.minimise;
  if (!sweep::ColumnCalled(file->minimise)) {
    console.diagnostics.Error(sweep::kBadSetting, fmt::format("there is no result `{}`", file->minimise), {},
                              DidYouMean(file->minimise, sweep::ResultNames()));
  }
  if (options.tokens > 0) file->economy.tokens = options.tokens;
  if (!options.prices.empty()) {
    if (const Status added = sweep::AddPrices(options.prices, file->economy); !added)
      console.diagnostics.Report(added.error());
  }
  sweep::AddConstraints(options.constraints, *file, console.diagnostics);
  return console.diagnostics.has_errors() ? std::nullopt : std::move(file);
}

// "10-19" or "10" into places, the last one included.
Status ReadRange(const std::string& text, size_t size, sweep::SweepOptions& run) {
  if (text.empty()) return {};
  unsigned long first = 0;
  unsigned long last = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%lu-%lu%c", &first, &last, &rest);
  if (read == 1 && text.find('-') == std::string::npos) last = first;
  const bool whole = read == 2 || (read == 1 && text.find('-') == std::string::npos);
  if (!whole || last < first || first >= size) {
    return MakeError(kBadPoints, fmt::format("`{}` names none of the {} points", text, size), {},
                     fmt::format("FIRST-LAST within 0-{}", size - 1));
  }
  run.first = first;
  run.end = last + 1;
  return {};
}

void PrintPoints(const sweep::SweepFile& file, const sweep::Points& points, const sweep::SweepOptions& run,
                 Format format) {
  sweep::SettingsReader reader;
  report::Table table{.columns = {{"point", report::Align::kRight}}, .rows = {}};
  for (const sweep::Axis& axis : file.axes) table.columns.push_back({axis.name});
  table.columns.push_back({"command"});
  for (size_t i = run.first; i < std::min(run.end, points.size()); ++i) {
    sweep::Row row{.point = points.NumberOf(i), .settings = points.ValuesOf(i)};
    const auto options = sweep::OptionsOfPoint(file, row.settings, reader, row);
    std::vector<std::string> cells = {std::to_string(row.point)};
    for (const auto& [name, value] : row.settings) cells.push_back(sweep::TextOf(value));
    cells.push_back(row.error.empty() ? sweep::CommandOf(options) : row.error + ": " + row.message);
    table.rows.push_back(std::move(cells));
  }
  Print(RenderTable(table, format));
}

// What `hespas run` says first of the best point of each program, and what would help it most.
void PrintBest(const std::vector<sweep::Json>& rows, const sweep::SweepFile& file, const sweep::Points& points,
               bool colour) {
  for (const sweep::BestRun& best : sweep::BestRuns(file, points, rows)) {
    Print(
        fmt::format("best by {}: point {}\n{}", file.minimise, best.point, report::HeadlineText(best.result, colour)));
    if (!best.result.what_if.empty()) Print("\n" + report::ToText(report::WhatIfTable(best.result)));
    Print("\n" + best.command + "\n\n");
  }
}

void PrintRows(std::vector<sweep::Json> rows, const sweep::SweepFile& file, const sweep::Points& points,
               const SweepCommand& options, const Console& console) {
  const Format format = options.format;
  if (options.feasible) {
    std::vector<sweep::Json> feasible;
    for (const sweep::Json* row : sweep::Feasible(rows, file.constraints)) feasible.push_back(*row);
    rows = std::move(feasible);
  }
  if (format == Format::kCsv) return Print(sweep::CsvOf(rows));
  if (format == Format::kJsonLines) {
    for (const sweep::Json& row : rows) Print(JsonText(row) + "\n");
    return;
  }
  if (format == Format::kJson) return Print(JsonText(sweep::Json(rows), 2) + "\n");
  std::vector<std::string> axes;
  for (const sweep::Axis& axis : file.axes) axes.push_back(axis.name);
  if (format == Format::kTable && console.exit_status == 0) {
    PrintBest(rows, file, points, console.UseColour(STDOUT_FILENO));
  }
  if (const std::string note = sweep::WorkNote(rows); !note.empty()) Print(note + "\n\n");
  Print(RenderTable(sweep::TableOf(sweep::AnswersByProgram(rows, file.constraints, file.minimise), axes), format));
}

void PrintCost(const sweep::CostEstimate& cost) {
  Print(fmt::format(
      "{} points, about {:.3g} s on {} thread{}: {} of them took {:.3g} ms each, once programs were read\n",
      cost.points, cost.seconds, cost.threads, cost.threads == 1 ? "" : "s", cost.measured,
      cost.points > 1 ? 1000 * cost.seconds * cost.threads / static_cast<double>(cost.points) : 1000 * cost.seconds));
}

// What the search and the runners of clusters need to know of a sweep, as JSON.
void Describe(const sweep::SweepFile& file, const sweep::Points& points) {
  sweep::Json out = {{"points", points.size()}, {"base", sweep::Json::object()}, {"axes", sweep::Json::array()}};
  for (const auto& [name, value] : file.base) out["base"][name] = value;
  for (const sweep::Axis& axis : file.axes) {
    sweep::Json entry = {{"name", axis.name}, {"values", axis.values}};
    if (axis.range) {
      entry["range"] = {{"from", axis.range->from},
                        {"to", axis.range->to},
                        {"log", axis.range->logarithmic},
                        {"unit", axis.range->unit}};
    }
    out["axes"].push_back(std::move(entry));
  }
  out["zip"] = file.zips;
  for (const auto& [key, conditions] : {std::pair("filter", &file.filters), {"constraints", &file.constraints}}) {
    out[key] = sweep::Json::array();
    for (const sweep::Expression& condition : *conditions) out[key].push_back(condition.text());
  }
  out["minimise"] = sweep::ColumnCalled(file.minimise).value_or(file.minimise);
  out["tokens"] = file.economy.tokens;
  out["prices"] = file.economy.prices;
  Print(JsonText(out, 2) + "\n");
}

void Tell(const SweepCommand& options, const sweep::RunCounts& counts, Console& console) {
  if (!console.quiet && !options.output.empty()) {
    fmt::print(stderr, "{} points: {} done, {} there already, {} of them failed\n", counts.points, counts.done,
               counts.known, counts.failed);
  }
  if (!counts.stopped) return;
  const size_t ready = counts.done + counts.known;
  if (options.output.empty()) {
    fmt::print(stderr, "stopped after {} of {} points; with --output a sweep can be resumed\n", ready, counts.points);
  } else {
    fmt::print(stderr, "stopped after {} of {} points; the same command resumes the rest\n", ready, counts.points);
  }
  console.exit_status = kInterruptedStatus;
}

// Rows from the folder, or of this run alone where there is none.
Result<std::vector<sweep::Json>> RowsOf(const SweepCommand& options, const std::vector<std::string>& lines) {
  if (!options.output.empty()) return sweep::ReadRows(options.output);
  std::vector<sweep::Json> rows;
  for (const std::string& line : lines) {
    if (!line.empty()) rows.push_back(ReadOrderedJson(line));
  }
  return rows;
}

Status RunAll(const SweepCommand& options, const sweep::SweepFile& file, const sweep::Points& points,
              sweep::SweepOptions run, Console& console) {
  std::unique_ptr<sweep::Store> store;
  std::vector<std::string> lines;
  run.lines = &lines;
  if (!options.output.empty()) {
    auto opened = sweep::Store::Open(options.output, file, options.clean);
    if (!opened) return opened.error();
    store = *std::move(opened);
    run.store = store.get();
    run.lines = nullptr;
  }
  ProgressLine progress(console.quiet);
  run.threads = options.threads;
  run.progress = &progress;
  run.stop = &stop_asked;
  std::signal(SIGINT, OnStop);
  std::signal(SIGTERM, OnStop);
  const auto counts = sweep::RunPoints(file, points, run);
  progress.Clear();
  if (!counts) return counts.error();
  if (store) {
    if (Status written = store->WriteCsv(); !written) return written;
  }
  Tell(options, *counts, console);
  if (options.format == Format::kJsonLines && !options.feasible && store == nullptr) {
    for (const std::string& line : lines) Print(line);
    return {};
  }
  const auto rows = RowsOf(options, lines);
  if (!rows) return rows.error();
  PrintRows(*rows, file, points, options, console);
  return {};
}

// Rows that were made elsewhere; those of points that are there already are omitted.
Status Merge(const SweepCommand& options, const sweep::SweepFile& file, const sweep::Points& points, Console& console) {
  if (options.output.empty()) {
    return MakeError(sweep::kBadSetting, "--merge needs the --output that rows are merged into");
  }
  auto store = sweep::Store::Open(options.output, file, options.clean);
  if (!store) return store.error();
  const size_t before = (*store)->known();
  for (const std::string& path : options.merge) {
    if (Status added = (*store)->AddRows(path); !added) return added;
  }
  if (Status flushed = (*store)->Flush(); !flushed) return flushed;
  if (Status written = (*store)->WriteCsv(); !written) return written;
  if (!console.quiet) fmt::print(stderr, "{} rows merged, {} in all\n", (*store)->known() - before, (*store)->known());
  const auto rows = sweep::ReadRows(options.output);
  if (!rows) return rows.error();
  PrintRows(*rows, file, points, options, console);
  return {};
}

Status Sweep(const SweepCommand& options, Console& console) {
  const auto file = ReadFile(options, console);
  if (!file) return {};
  const auto points = sweep::Points::Make(*file);
  if (!points) return points.error();
  if (options.describe) {
    Describe(*file, *points);
    return {};
  }
  if (!options.merge.empty()) return Merge(options, *file, *points, console);
  sweep::SweepOptions run;
  if (Status range = ReadRange(options.points, points->size(), run); !range) return range;
  if (options.estimate_cost) {
    PrintCost(sweep::EstimateCost(*file, *points, options.threads));
    return {};
  }
  if (options.dry_run) {
    PrintPoints(*file, *points, run, options.format);
    return {};
  }
  if (points->size() >= kAskFrom && !options.yes) {
    return MakeError(sweep::kTooManyPoints, fmt::format("the sweep has {} points", points->size()), {},
                     "--yes runs them all; --estimate-cost says how long that takes; `sample` takes some");
  }
  return RunAll(options, *file, *points, run, console);
}

}  // namespace

void AddSweepCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "sweep", "runs many points over devices, networks, programs and options",
                                 "hespas sweep examples/sweeps/devices.yaml --output swept");
  auto options = std::make_shared<SweepCommand>();
  command.add_option("FILE", options->path, "what varies: YAML or JSON (`hespas schema sweep`); - is stdin")
      ->required();
  command.add_option("--output", options->output,
                     "folder for rows.jsonl (as they come), rows.csv and sweep.json; an unfinished sweep is resumed");
  command.add_flag("--clean", options->clean, "replace the rows of an earlier sweep in the folder");
  command.add_option("--threads", options->threads, "points that run at a time; by default one for each core");
  command.add_flag("--dry-run", options->dry_run, "list the points, each with its `hespas run`, and stop");
  command.add_flag("--estimate-cost", options->estimate_cost, "say how long it will take, and stop");
  command.add_flag("--yes", options->yes, "run a million points or more");
  command.add_option("--points", options->points, "only these, by place in the list: FIRST-LAST");
  command.add_flag("--feasible", options->feasible, "print only points that ran and satisfy the constraints");
  command.add_flag("--describe", options->describe, "print what varies as JSON, and stop");
  command
      .add_option("--merge", options->merge, "add rows from other machines (--format jsonl) to the folder; repeatable")
      ->allow_extra_args(false);
  // Read by the Python programs that take over where one of these is given (cli/python_command.h).
  static std::string taken_over;
  command.add_option("--on", taken_over, "run on a cluster: ray, ray=ADDRESS or slurm, in chunks of points");
  command.add_option("--search", taken_over, "try fewer points: exhaustive, halving or bayesian; --trials N, --seed N");
  command.add_option("--minimise", options->minimise, "what is best: step_time, energy, cost, ... (any result)");
  command
      .add_option("--subject-to", options->constraints,
                  "condition on results, such as \"peak_memory < 80 GB\"; repeatable")
      ->allow_extra_args(false);
  command.add_option("--tokens", options->tokens, "tokens or samples of a whole run: its time, energy and cost")
      ->check(CLI::PositiveNumber);
  command.add_option("--price-per-hour", options->prices, "of one device: a number, or DEVICE=NUMBER,...");
  AddFormatOption(command, options->format);
  command.callback([options, &console] {
    if (const Status done = Sweep(*options, console); !done) console.Fail(done.error());
    console.PrintDiagnostics();
  });
}

}  // namespace hespas::cli
