#include "cli/options/step_table.h"

#include <fmt/format.h>

#include <sstream>

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
    for (size_t r = 0; r < csv->rows.size(); ++r) Add(*columns, csv->rows[r], static_cast<size_t>(csv->lines[r]));
    const Status usable = serve::CheckDecodes(times_.decode, {.file = path_, .line = 1});
    if (!usable && !diagnostics_.has_errors()) diagnostics_.Report(usable.error());
    return diagnostics_.has_errors() ? std::nullopt : std::optional(std::move(times_));
  }

 private:
  void Bad(std::string message, size_t line) {
    diagnostics_.Error(serve::kBadStepTable, std::move(message), {.file = path_, .line = line}, serve::kStepTableHelp);
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
    const std::string sizes = columns.bind ? row[*columns.bind] : "";
    const bool runs = cell.empty() && !program.empty();
    if (!runs && !sizes.empty())
      return Bad(fmt::format("`{}` binds the sizes of no program: the row runs none", sizes), line);
    if (runs && diagnostics_.has_errors()) return;  // what is wrong is known; no need to run for it
    const auto seconds = Seconds(cell, program, sizes, options_, diagnostics_);
    if (runs && !seconds) return;     // it has said why
    constexpr double kLongest = 1e6;  // days: a slip of the unit, whose sums would be lost in rounding
    const bool plausible = seconds && (prefill ? *seconds >= 0 : *seconds > 0) && *seconds <= kLongest;
    if (!plausible) return Bad(fmt::format("`{}` is no time of a {} step", cell, row[columns.phase]), line);
    (prefill ? times_.prefill : times_.decode).Add(*batch, *context, *seconds);
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

}  // namespace hespas::cli
