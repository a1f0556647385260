#include "validate/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json.h"
#include "hardware/presets.h"

namespace hespas::validate {
namespace {

using Json = nlohmann::json;

constexpr double kBiasShare = 0.7;
constexpr double kOneSigma[] = {0.60, 0.75};
constexpr double kTwoSigma = 0.90;

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

bool IsCompared(const Groups& groups, const Json& bound) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    return bound.value("set", "") == group.first.set && bound.value("mode", "") == group.first.mode;
  });
}

std::optional<double> Fraction(const Json& bound, const char* key) {
  const auto percent = bound.find(key);
  return percent == bound.end() ? std::nullopt : std::optional(percent->get<double>() / 100);
}

// The largest of the rows' errors.
double Worst(const std::vector<Comparison>& rows) {
  double worst = 0;
  for (const Comparison& row : rows) worst = std::max(worst, std::abs(row.predicted / row.measured - 1));
  return worst;
}

BoundResult Check(const Json& bound, const std::vector<Comparison>& rows) {
  BoundResult result{.name = bound.value("name", ""),
                     .mode = bound.value("mode", ""),
                     .errors = SummaryOf(rows),
                     .mean_bound = Fraction(bound, "mean"),
                     .median_bound = Fraction(bound, "median")};
  const AccuracyRow& errors = result.errors;
  const double bias_bound = Fraction(bound, "bias").value_or(kBiasShare * result.mean_bound.value_or(0));
  result.errors_held =
      !result.mean_bound || (errors.model.mean <= *result.mean_bound && std::abs(errors.model.bias) <= bias_bound);
  if (const auto worst = Fraction(bound, "worst")) result.errors_held &= Worst(rows) <= *worst;
  if (result.median_bound) result.errors_held &= errors.model.median <= *result.median_bound;
  result.coverage_held = !bound.value("coverage", false) ||
                         (errors.within_one_sigma >= kOneSigma[0] && errors.within_one_sigma <= kOneSigma[1] &&
                          errors.within_two_sigma >= kTwoSigma);
  return result;
}

std::string Percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

std::string PercentIfAny(std::optional<double> fraction) { return fraction ? Percent(*fraction) : ""; }

void Report(const BoundResult& result, Diagnostics& diagnostics) {
  const AccuracyRow& errors = result.errors;
  if (!result.errors_held) {
    diagnostics.Error(kAccuracyMissed,
                      fmt::format("{} ({}): mean error {} %, bound {} %; bias {} %; median {} %", result.name,
                                  result.mode, Percent(errors.model.mean), PercentIfAny(result.mean_bound),
                                  Percent(errors.model.bias), Percent(errors.model.median)));
  }
  if (!result.coverage_held) {
    diagnostics.Error(kAccuracyMissed,
                      fmt::format("{} ({}): {} % within one sigma and {} % within two", result.name, result.mode,
                                  Percent(errors.within_one_sigma), Percent(errors.within_two_sigma)));
  }
}

}  // namespace

std::optional<std::vector<BoundResult>> CheckBounds(const Groups& groups, Diagnostics& diagnostics) {
  const auto folder = hardware::DataFolder();
  const auto text = folder ? ReadInput((*folder / "measured" / "bounds.json").string()) : folder.error();
  if (!text) {
    diagnostics.Report(text.error());
    return std::nullopt;
  }
  std::vector<BoundResult> results;
  const Json json = ReadJson(*text);
  for (const Json& bound : json.is_discarded() ? Json::array() : json.value("bounds", Json::array())) {
    if (!IsCompared(groups, bound)) continue;
    const auto rows = Pool(groups, bound);
    if (rows.empty()) {  // a label was renamed
      diagnostics.Error(kAccuracyMissed, fmt::format("{} ({}): no measurement of its set has its ops and devices",
                                                     bound.value("name", ""), bound.value("mode", "")));
      continue;
    }
    results.push_back(Check(bound, rows));
    Report(results.back(), diagnostics);
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
                   {"mean bound %", Align::kRight},
                   {"median %", Align::kRight},
                   {"median bound %", Align::kRight},
                   {"bias %", Align::kRight},
                   {"within 1 sigma %", Align::kRight},
                   {"within 2 sigma %", Align::kRight},
                   {"held"}};
  for (const BoundResult& result : results) {
    const AccuracyRow& errors = result.errors;
    table.rows.push_back({result.name, result.mode, fmt::format("{}", errors.count), Percent(errors.model.mean),
                          PercentIfAny(result.mean_bound), Percent(errors.model.median),
                          PercentIfAny(result.median_bound), Percent(errors.model.bias),
                          errors.width > 0 ? Percent(errors.within_one_sigma) : "",
                          errors.width > 0 ? Percent(errors.within_two_sigma) : "", result.held() ? "yes" : "no"});
  }
  return table;
}

report::Table ModeTable(const std::vector<BoundResult>& results) {
  using report::Align;
  constexpr std::string_view kModes[] = {"shipped", "zero-shot", "size held out", "calibrated"};
  report::Table table;
  table.columns = {{"compared"},
                   {"rows", Align::kRight},
                   {"in sample %", Align::kRight},
                   {"bias %", Align::kRight},
                   {"device held out %", Align::kRight},
                   {"size held out %", Align::kRight},
                   {"24 kernels %", Align::kRight}};
  std::map<std::string, size_t> row_of;
  for (const BoundResult& result : results) {
    const auto mode = std::find(std::begin(kModes), std::end(kModes), result.mode) - std::begin(kModes);
    const auto [row, fresh] = row_of.emplace(result.name, table.rows.size());
    if (fresh) table.rows.push_back({result.name, fmt::format("{}", result.errors.count), "", "", "", "", ""});
    std::string cell = Percent(result.errors.model.mean);
    if (result.mean_bound)
      cell += fmt::format(" of {:g}{}", 100 * *result.mean_bound, result.errors_held ? "" : " (!)");
    auto& cells = table.rows[row->second];
    if (mode == 0) cells[3] = Percent(result.errors.model.bias);
    cells[static_cast<size_t>(mode == 0 ? 2 : mode + 3)] = cell;
  }
  return table;
}

}  // namespace hespas::validate
