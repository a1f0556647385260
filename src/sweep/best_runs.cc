#include "sweep/best_runs.h"

#include <map>

#include "estimate/registry.h"
#include "sweep/run_sweep.h"

namespace hespas::sweep {
namespace {

// Places in the list of points by their number.
std::map<uint64_t, size_t> PlacesOf(const Points& points) {
  std::map<uint64_t, size_t> places;
  for (size_t i = 0; i < points.size(); ++i) places.emplace(points.NumberOf(i), i);
  return places;
}

}  // namespace

std::vector<BestRun> BestRuns(const SweepFile& file, const Points& points, const std::vector<Json>& rows) {
  const std::map<uint64_t, size_t> places = PlacesOf(points);
  std::vector<BestRun> runs;
  SettingsReader reader;
  for (const std::string& program : ProgramsOf(rows)) {
    const Answer best = AnswersOf(RowsOf(rows, program), file.constraints, file.minimise).front();
    if (best.row.is_null()) continue;
    const uint64_t point = best.row.at("point").get<uint64_t>();
    const auto place = places.find(point);
    if (place == places.end()) continue;
    Row row;
    driver::RunOptions options = OptionsOfPoint(file, points.ValuesOf(place->second), reader, row);
    if (!row.error.empty() || estimate::Measures(options.estimate.estimator)) continue;
    Diagnostics told;  // the row says what came of it
    auto result = driver::Run(options, told);
    // Rows of another file, or of one that was edited, are of other runs.
    const auto time = best.row.find("step_time_ps");
    if (!result || (time != best.row.end() && *time != result->step_time.value)) continue;
    if (const auto price = file.economy.PriceOf(result->device)) result->price = Price{.per_hour = *price};
    runs.push_back({point, CommandOf(options), *std::move(result)});
  }
  return runs;
}

}  // namespace hespas::sweep
