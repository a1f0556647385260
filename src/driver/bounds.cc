#include "driver/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

using Json = nlohmann::json;

constexpr double kBiasShare = 0.7;

bool Names(const Json& bound, const char* key, const std::string& name) {
  const auto names = bound.find(key);
  return names == bound.end() || std::find(names->begin(), names->end(), name) != names->end();
}

std::vector<Comparison> Pool(const Groups& groups, const Json& bound) {
  std::vector<Comparison> pooled;
  for (const auto& [key, rows] : groups) {
    if (bound.value("set", "") != key.set || bound.value("mode", "") != key.mode) continue;
    if (!Names(bound, "ops", key.op) || !Names(bound, "devices", key.device)) continue;
    pooled.insert(pooled.end(), rows.begin(), rows.end());
  }
  return pooled;
}

BoundResult Check(const Json& bound, const std::vector<Comparison>& rows) {
  BoundResult result{.name = bound.value("name", ""),
                     .mode = bound.value("mode", ""),
                     .count = rows.size(),
                     .error = Errors(rows, &Comparison::predicted),
                     .mean_bound = bound.value("mean", 0.0) / 100,
                     .median_bound = std::nullopt};
  if (bound.contains("median")) result.median_bound = bound["median"].get<double>() / 100;
  result.held = result.error.mean <= result.mean_bound &&
                std::abs(result.error.bias) <= kBiasShare * result.mean_bound &&
                (!result.median_bound || result.error.median <= *result.median_bound);
  return result;
}

std::string Percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

}  // namespace

std::optional<std::vector<BoundResult>> CheckBounds(const Groups& groups, Diagnostics& diagnostics) {
  const auto folder = hardware::DataFolder();
  const auto text = folder ? ReadInput((*folder / "measured" / "bounds.json").string()) : folder.error();
  if (!text) {
    diagnostics.Report(text.error());
    return std::nullopt;
  }
  std::vector<BoundResult> results;
  const Json json = Json::parse(*text, nullptr, false);
  for (const Json& bound : json.is_discarded() ? Json::array() : json.value("bounds", Json::array())) {
    const auto rows = Pool(groups, bound);
    if (rows.empty()) continue;
    results.push_back(Check(bound, rows));
    const BoundResult& result = results.back();
    if (result.held) continue;
    diagnostics.Error(kAccuracyMissed, fmt::format("{} ({}): mean error {} %, bound {} %", result.name, result.mode,
                                                   Percent(result.error.mean), Percent(result.mean_bound)));
  }
  return results;
}

report::Table BoundTable(const std::vector<BoundResult>& results) {
  using report::Align;
  report::Table table;
  table.columns = {{"bound on"},
                   {"mode"},
                   {"rows", Align::kRight},
                   {"mean error %", Align::kRight},
                   {"bound %", Align::kRight},
                   {"median %", Align::kRight},
                   {"bound %", Align::kRight},
                   {"bias %", Align::kRight},
                   {"held"}};
  for (const BoundResult& result : results) {
    table.rows.push_back({result.name, result.mode, fmt::format("{}", result.count), Percent(result.error.mean),
                          Percent(result.mean_bound), Percent(result.error.median),
                          result.median_bound ? Percent(*result.median_bound) : "", Percent(result.error.bias),
                          result.held ? "yes" : "no"});
  }
  return table;
}

}  // namespace hespas::driver
