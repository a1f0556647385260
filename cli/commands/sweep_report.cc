// `hespas sweep-report`: the page of a sweep's folder, and reports of its points.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "base/system/file.h"
#include "base/text/json.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "driver/pipeline/output.h"
#include "sweep/answer/page.h"
#include "sweep/run_sweep.h"

namespace hespas::cli {
namespace {

namespace fs = std::filesystem;

inline constexpr DiagnosticKind kNoSuchPoint{
    "E0949", "The folder of a sweep has no such point, or none that could be run.", Outcome::kUsage};

struct ReportCommand {
  std::string folder;
  std::vector<uint64_t> points;
  size_t reports = 12;
  bool all = false;
  std::string minimise;
  std::vector<std::string> constraints;
};

// The sweep of a folder with the settings of each of its points.
struct Swept {
  sweep::SweepFile file;
  std::vector<sweep::Json> rows;
  std::map<uint64_t, driver::RunOptions> options;
};

std::optional<sweep::SweepFile> FileOf(const ReportCommand& command, Console& console) {
  const auto manifest = sweep::ReadManifest(command.folder);
  if (!manifest) {
    console.diagnostics.Report(manifest.error());
    return std::nullopt;
  }
  sweep::Json text = manifest->value("definition", sweep::Json::object());
  for (const char* key : {"constraints", "minimise"}) {
    if (manifest->contains(key)) text[key] = (*manifest)[key];
  }
  auto file = sweep::ReadSweepText(JsonText(text), command.folder + "/sweep.json", console.diagnostics);
  if (!file) return std::nullopt;
  file->path = manifest->value("path", command.folder);
  if (!command.minimise.empty() && sweep::ColumnCalled(command.minimise)) file->minimise = command.minimise;
  if (!sweep::AddConstraints(command.constraints, *file, console.diagnostics)) return std::nullopt;
  return file;
}

std::optional<Swept> Read(const ReportCommand& command, Console& console) {
  auto file = FileOf(command, console);
  if (!file) return std::nullopt;
  auto rows = sweep::ReadRows(command.folder);
  if (!rows) {
    console.diagnostics.Report(rows.error());
    return std::nullopt;
  }
  Swept swept{*std::move(file), *std::move(rows), {}};
  const auto points = sweep::Points::Make(swept.file);  // refers to it
  if (!points) {
    console.diagnostics.Report(points.error());
    return std::nullopt;
  }
  std::map<uint64_t, bool> listed;
  for (const uint64_t point : sweep::Listed(swept.rows, swept.file.constraints, swept.file.minimise))
    listed[point] = true;
  for (const uint64_t point : command.points) listed[point] = true;
  sweep::SettingsReader reader;
  for (size_t i = 0; i < points->size(); ++i) {
    const uint64_t number = points->NumberOf(i);
    if (!listed.contains(number)) continue;
    sweep::Row row;
    auto options = sweep::OptionsOfPoint(swept.file, points->ValuesOf(i), reader, row);
    if (row.error.empty()) swept.options.emplace(number, std::move(options));
  }
  return swept;
}

// report.html and timeline.pftrace of one point; its address from the page.
Result<std::string> ReportOf(const std::string& folder, uint64_t point, driver::RunOptions options) {
  const std::string name = fmt::format("points/{}", point);
  const fs::path own = fs::path(folder) / name;
  std::error_code error;
  if (fs::exists(own / "report.html", error)) return name + "/report.html";
  options.output.command_line = sweep::CommandOf(options);
  options.output.explain = true;
  options.output.list_blocks = true;
  Diagnostics diagnostics;
  const auto run = driver::RunStages(options, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!run && !diagnostic.is_warning()) return diagnostic;
  }
  if (!run) return MakeError(kNoSuchPoint, fmt::format("point {} could not be run", point));
  if (Status made = driver::PrepareFolder(own, false); !made) return made.error();
  if (Status written = driver::WriteReport(options, *run, own); !written) return written.error();
  return name + "/report.html";
}

Status MakeReports(const ReportCommand& command, const Swept& swept, Console& console,
                   std::map<uint64_t, std::string>& reports) {
  std::vector<uint64_t> wanted = command.points;
  if (wanted.empty()) wanted = sweep::Highlights(swept.rows, swept.file.constraints, swept.file.minimise);
  if (command.points.empty() && !command.all && wanted.size() > command.reports) wanted.resize(command.reports);
  ProgressLine progress(console.quiet);
  progress.Begin("reports", wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto options = swept.options.find(wanted[i]);
    if (options == swept.options.end()) {
      if (!command.points.empty())
        return MakeError(kNoSuchPoint, fmt::format("there is no point {} to report on", wanted[i]), {},
                         "`point` in rows.csv numbers them");
      continue;
    }
    auto made = ReportOf(command.folder, wanted[i], options->second);
    if (!made && !command.points.empty()) return made.error();
    if (made) reports[wanted[i]] = *std::move(made);
    progress.Done(i + 1);
  }
  progress.Clear();
  for (const auto& [point, options] : swept.options) {
    std::error_code error;
    const std::string name = fmt::format("points/{}/report.html", point);
    if (fs::exists(fs::path(command.folder) / name, error)) reports[point] = name;
  }
  return {};
}

Status WriteReport(const ReportCommand& command, Console& console) {
  const auto swept = Read(command, console);
  if (!swept) return {};
  sweep::PageInput input{.title = "Sweep of " + fs::path(swept->file.path).filename().string(),
                         .rows = swept->rows,
                         .axes = {},
                         .constraints = swept->file.constraints,
                         .minimise = swept->file.minimise,
                         .reports = {},
                         .commands = {}};
  for (const sweep::Axis& axis : swept->file.axes) input.axes.push_back(axis.name);
  for (const auto& [point, options] : swept->options) input.commands[point] = sweep::CommandOf(options);
  if (Status made = MakeReports(command, *swept, console, input.reports); !made) return made;
  const std::string path = command.folder + "/report.html";
  if (Status written = WriteFileAtomically(path, sweep::SweepPage(input)); !written) return written;
  Print(path + "\n");
  return {};
}

}  // namespace

void AddSweepReportCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "sweep-report", "makes a page of a sweep's folder: DIR/report.html",
                                 "hespas sweep-report swept");
  auto options = std::make_shared<ReportCommand>();
  command.add_option("DIR", options->folder, "the --output of a sweep")->required();
  command.add_option("--point", options->points, "the reports of these points, and no others")->allow_extra_args(false);
  command.add_option("--reports", options->reports, "how many points get a report of their own, best first");
  command.add_flag("--all-reports", options->all, "a report of its own for every point that the page lists");
  command.add_option("--minimise", options->minimise, "what is best; by default what the sweep says");
  command.add_option("--subject-to", options->constraints, "further condition on results; repeatable")
      ->allow_extra_args(false);
  command.callback([options, &console] {
    if (const Status done = WriteReport(*options, console); !done) console.Fail(done.error());
    console.PrintDiagnostics();
  });
}

}  // namespace hespas::cli
