#include "cli/options/step_table.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {
namespace {

// A row's step time: given, or that of the program it names, with the sizes of its symbolic dimensions ("b=8 s=1024").
std::optional<double> Seconds(const std::string& cell, const std::string& program, const std::string& sizes,
                              const driver::RunOptions& options, Diagnostics& diagnostics) {
  if (!cell.empty() || program.empty()) return CsvNumber(cell);
  driver::RunOptions run = options;
  run.program.path = program;
  std::istringstream words(sizes);
  for (std::string size; words >> size;) run.program.bind.push_back(size);
  const auto result = driver::Run(run, diagnostics);
  return result ? std::optional(result->step_time.seconds()) : std::nullopt;
}

struct Step {
  std::string phase;
  double batch = 0;
  double context = 0;
  std::string seconds;  // empty: those of the program
  std::string program;
  std::string sizes;
};

struct Columns {
  size_t phase;
  size_t batch;
  size_t context;
  std::optional<size_t> seconds;
  std::optional<size_t> program;
  std::optional<size_t> bind;
};

class StepTable {
 public:
  StepTable(std::string path, const driver::RunOptions& options, Diagnostics& diagnostics)
      : path_(std::move(path)), options_(options), diagnostics_(diagnostics) {}

  std::optional<serve::StepTables> Read() {
    auto text = ReadRaw(path_);
    auto csv = text ? ParseCsv(*text, path_) : Result<CsvTable>(text.error());
    if (!csv) {
      diagnostics_.Report(csv.error());
      return std::nullopt;
    }
    const auto columns = Find(*csv);
    if (!columns) return std::nullopt;
    for (size_t r = 0; r < csv->rows.size(); ++r) AddRow(*columns, csv->rows[r], static_cast<size_t>(csv->lines[r]));
    return Finish({.file = path_, .line = 1});
  }

  std::optional<serve::StepTables> Read(const StepPrograms& programs) {
    // Before any program runs.
    if (programs.prefill.empty()) BadPrograms("--decode alone gives no steps of prompts");
    if (programs.decode.empty()) BadPrograms("--prefill alone gives no decode steps");
    for (const std::string& text : programs.prefill) AddProgram("prefill", text);
    for (const std::string& text : programs.decode) AddProgram("decode", text);
    return diagnostics_.has_errors() ? std::nullopt : std::optional(std::move(times_));
  }

 private:
  std::optional<serve::StepTables> Finish(const Location& location) {
    const Status usable = serve::CheckDecodes(times_.decode, location);
    if (!usable && !diagnostics_.has_errors()) diagnostics_.Report(usable.error());
    return diagnostics_.has_errors() ? std::nullopt : std::optional(std::move(times_));
  }

  void Bad(std::string message, size_t line) {
    if (path_.empty()) return BadPrograms(std::move(message));
    diagnostics_.Error(serve::kBadStepTable, std::move(message), {.file = path_, .line = line}, serve::kStepTableHelp);
  }

  void BadPrograms(std::string message) {
    diagnostics_.Error(serve::kBadStepTable, std::move(message), {},
                       "for example --prefill prefill.mlir:1:1024 --decode decode.mlir:64:1280, the batch above 0; a "
                       "model goes before the options");
  }

  // "decode.mlir:64:1280", with sizes of symbolic dimensions "decode.mlir:64:1280:b=64 s=1280".
  void AddProgram(std::string phase, const std::string& option) {
    std::string text = option;
    const auto take = [&] {
      const size_t colon = text.rfind(':');
      if (colon == std::string::npos) return std::string();
      std::string last = text.substr(colon + 1);
      text.resize(colon);
      return last;
    };
    Step step{.phase = std::move(phase)};
    std::string last = take();
    if (last.find('=') != std::string::npos) step.sizes = std::exchange(last, take());
    const auto context = CsvNumber(last);
    const auto batch = CsvNumber(take());
    step.program = text;
    const bool whole = !text.empty() && batch && *batch > 0 && context && *context >= 0;
    if (!whole) return BadPrograms(fmt::format("`{}` is not PROGRAM:BATCH:CONTEXT", option));
    step.batch = *batch;
    step.context = *context;
    Add(step, 0);
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
                          .program = program,
                          .bind = csv.Column("bind")};
    return all ? std::optional(columns) : std::nullopt;
  }

  void AddRow(const Columns& columns, const std::vector<std::string>& row, size_t line) {
    const auto cell = [&](const std::optional<size_t>& column) { return column ? row[*column] : std::string(); };
    const std::string& phase = row[columns.phase];
    const auto batch = CsvNumber(row[columns.batch]);
    const auto context = CsvNumber(row[columns.context]);
    if (phase != "prefill" && phase != "decode") return Bad(fmt::format("`{}` is no phase", phase), line);
    if (!batch || !(*batch > 0)) return Bad(fmt::format("`{}` is no batch", row[columns.batch]), line);
    if (!context || !(*context >= 0)) return Bad(fmt::format("`{}` is no context", row[columns.context]), line);
    Add({.phase = phase,
         .batch = *batch,
         .context = *context,
         .seconds = cell(columns.seconds),
         .program = cell(columns.program),
         .sizes = cell(columns.bind)},
        line);
  }

  void Add(const Step& step, size_t line) {
    const bool runs = step.seconds.empty() && !step.program.empty();
    if (!runs && !step.sizes.empty())
      return Bad(fmt::format("`{}` binds the sizes of no program: the row runs none", step.sizes), line);
    if (runs && diagnostics_.has_errors()) return;  // what is wrong is known; no need to run for it
    const auto seconds = Seconds(step.seconds, step.program, step.sizes, options_, diagnostics_);
    if (runs && !seconds) return;     // it has said why
    constexpr double kLongest = 1e6;  // days: a slip of the unit, whose sums would be lost in rounding
    const bool prefill = step.phase == "prefill";
    const bool plausible = seconds && (prefill ? *seconds >= 0 : *seconds > 0) && *seconds <= kLongest;
    if (!plausible) {
      const std::string given = runs ? fmt::format("{:g} s of `{}`", *seconds, step.program) : "`" + step.seconds + "`";
      return Bad(fmt::format("{} is no time of a {} step", given, step.phase), line);
    }
    (prefill ? times_.prefill : times_.decode).Add(step.batch, step.context, *seconds);
  }

  const std::string path_;
  const driver::RunOptions& options_;
  Diagnostics& diagnostics_;
  serve::StepTables times_;
};

}  // namespace

std::optional<serve::StepTables> ReadStepTable(const std::string& path, const driver::RunOptions& options,
                                               Diagnostics& diagnostics) {
  return StepTable(path, options, diagnostics).Read();
}

std::optional<serve::StepTables> ReadStepPrograms(const StepPrograms& programs, const driver::RunOptions& options,
                                                  Diagnostics& diagnostics) {
  return StepTable("", options, diagnostics).Read(programs);
}

}  // namespace hespas::cli
