// `hespas cache`: what a file of kept estimates holds.
#include <fmt/format.h>

#include <memory>

#include "cli/format.h"
#include "driver/compat/cache_import.h"
#include "estimate/cache/sqlite_cache.h"

namespace hespas::cli {
namespace {

struct CacheCommand {
  std::string action;
  std::string path;
  std::string folder;  // of import
  int64_t days = 30;
  Format format = Format::kTable;
};

void Import(const CacheCommand& options, Console& console) {
  if (options.folder.empty()) throw CLI::RequiredError("FOLDER, the prototype's cache_dir,");
  const auto done = driver::ImportPrototypeCache(options.path, options.folder, console.diagnostics);
  console.PrintDiagnostics();
  if (!done) return console.Fail(done.error());
  Print(fmt::format("imported {} estimates, skipped {} files\n", done->imported, done->skipped));
}

void Run(const CacheCommand& options, Console& console) {
  if (options.action == "import") return Import(options, console);
  if (options.action == "export") {
    const auto text = estimate::ExportCache(options.path);
    return text ? Print(*text) : console.Fail(text.error());
  }
  if (options.action == "prune") {
    const auto removed = estimate::PruneCache(options.path, options.days);
    return removed ? Print(fmt::format("removed {} estimates older than {} days\n", *removed, options.days))
                   : console.Fail(removed.error());
  }
  const auto statistics = estimate::ReadCacheStatistics(options.path);
  if (!statistics) return console.Fail(statistics.error());
  if (options.format == Format::kTable) {
    return Print(fmt::format(
        "estimates   {}\nmodels      {}\ndamaged     {}\noldest      {} days\nfile        {} bytes\n",
        statistics->entries, statistics->models, statistics->damaged, statistics->oldest_days, statistics->bytes));
  }
  using report::Align;
  const report::Table table{
      .columns = {{"estimates", Align::kRight},
                  {"models", Align::kRight},
                  {"damaged", Align::kRight},
                  {"oldest_days", Align::kRight},
                  {"bytes", Align::kRight}},
      .rows = {{fmt::format("{}", statistics->entries), fmt::format("{}", statistics->models),
                fmt::format("{}", statistics->damaged), fmt::format("{}", statistics->oldest_days),
                fmt::format("{}", statistics->bytes)}}};
  Print(RenderTable(table, options.format));
}

}  // namespace

void AddCacheCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "cache", "shows, prunes, exports or fills an estimate cache",
                                 "hespas cache stats estimates.sqlite");
  auto options = std::make_shared<CacheCommand>();
  command.add_option("ACTION", options->action, "stats, prune, export or import")
      ->required()
      ->check(OneOf({"stats", "prune", "export", "import"}));
  command.add_option("FILE", options->path, "the file that --cache was given")->required();
  command.add_option("FOLDER", options->folder, "import: cache folder of the Python prototype");
  command.add_option("--days", options->days, "prune: remove estimates older than this age")->check(NonNegative());
  AddFormatOption(command, options->format);
  command.callback([options, &console] { Run(*options, console); });
}

}  // namespace hespas::cli
