#include "sweep/answer/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sweep/answer/answers.h"

namespace hespas::sweep {
namespace {

double NumberIn(const Json& row, const std::string& column) {
  const auto number = NumberOf(row.value(column, Json()));
  return number.value_or(std::numeric_limits<double>::quiet_NaN());
}

constexpr size_t kGroups = 10;  // of an axis with many values

bool SameWithin(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(a); }

std::string KindOf(const std::vector<Scaling::Step>& steps) {
  const auto work = [](const Scaling::Step& step) { return NumberIn(step.row, "units_per_step"); };
  const auto all = [&](const auto& same) { return std::all_of(steps.begin(), steps.end(), same); };
  const Scaling::Step& first = steps.front();
  if (all([&](const auto& step) { return SameWithin(work(first), work(step)); })) return "strong";
  if (all([&](const auto& step) { return SameWithin(work(first) / first.npus, work(step) / step.npus); }))
    return "weak";
  return "mixed";
}

// Axes that say nothing about the number of devices.
std::vector<std::string> FreeAxes(const std::vector<Json>& rows, const std::vector<std::string>& axes) {
  std::vector<std::string> free;
  for (const std::string& axis : axes) {
    std::map<std::string, std::set<double>> counts;
    for (const Json& row : rows) counts[TextOf(row.value(axis, Json()))].insert(NumberIn(row, "npus"));
    const bool decides = counts.size() > 1 && std::all_of(counts.begin(), counts.end(),
                                                          [](const auto& entry) { return entry.second.size() == 1; });
    if (!decides) free.push_back(axis);
  }
  return free;
}

}  // namespace

std::vector<size_t> ParetoFront(const std::vector<Json>& rows, const std::string& x, const std::string& y) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::isfinite(NumberIn(rows[i], x)) && std::isfinite(NumberIn(rows[i], y))) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const double xa = NumberIn(rows[a], x);
    const double xb = NumberIn(rows[b], x);
    return xa < xb || (xa == xb && NumberIn(rows[a], y) < NumberIn(rows[b], y));
  });
  std::vector<size_t> front;
  double least = std::numeric_limits<double>::infinity();
  for (const size_t i : order) {
    if (NumberIn(rows[i], y) >= least) continue;
    least = NumberIn(rows[i], y);
    front.push_back(i);
  }
  return front;
}

Bins BinsOf(const std::vector<Json>& rows, const std::string& axis, size_t most) {
  std::map<std::pair<double, std::string>, size_t> values;  // numbers by size, texts by name
  const auto key = [&](const Json& row) {
    const Json value = row.value(axis, Json());
    return std::pair(NumberOf(value).value_or(0), TextOf(value));
  };
  for (const Json& row : rows) values.emplace(key(row), 0);
  Bins bins;
  if (values.size() <= most || !std::isfinite(NumberIn(rows[0], axis))) {
    size_t next = 0;
    for (auto& [value, place] : values) {
      place = next++;
      bins.labels.push_back(ShortText(Json(value.second)));
    }
    for (const Json& row : rows) bins.of_row.push_back(values.at(key(row)));
    return bins;
  }
  const double low = values.begin()->first.first;
  const double width = (values.rbegin()->first.first - low) / static_cast<double>(most);
  for (size_t i = 0; i < most; ++i)
    bins.labels.push_back(fmt::format("{:.3g} to {:.3g}", low + width * static_cast<double>(i),
                                      low + width * static_cast<double>(i + 1)));
  for (const Json& row : rows)
    bins.of_row.push_back(std::min(most - 1, static_cast<size_t>((key(row).first - low) / width)));
  return bins;
}

std::vector<Effect> EffectsOf(const std::vector<Json>& rows, const std::vector<std::string>& axes,
                              const std::string& column) {
  std::vector<double> logs;
  double mean = 0;
  for (const Json& row : rows) {
    logs.push_back(std::log(std::max(1e-300, NumberIn(row, column))));
    mean += logs.back() / static_cast<double>(rows.size());
  }
  double variance = 0;
  for (const double log : logs) variance += (log - mean) * (log - mean);
  std::vector<Effect> effects;
  for (const std::string& axis : axes) {
    const Bins bins = BinsOf(rows, axis, kGroups);
    std::vector<std::pair<double, double>> sums(bins.labels.size());  // of logs, and how many
    for (size_t i = 0; i < rows.size(); ++i) {
      sums[bins.of_row[i]].first += logs[i];
      sums[bins.of_row[i]].second += 1;
    }
    Effect effect{.axis = axis};
    double best = std::numeric_limits<double>::infinity();
    double worst = -best;
    for (const auto& [sum, count] : sums) {
      if (count == 0) continue;
      const double of_group = sum / count;
      effect.share += count * (of_group - mean) * (of_group - mean);
      best = std::min(best, of_group);
      worst = std::max(worst, of_group);
    }
    effect.share = variance > 0 ? effect.share / variance : 0;
    effect.slowest = std::exp(worst - best);
    effects.push_back(std::move(effect));
  }
  std::stable_sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return effects;
}

std::vector<Scaling> ScalingsOf(const std::vector<Json>& rows, const std::vector<std::string>& axes) {
  const std::vector<std::string> free = FreeAxes(rows, axes);
  std::map<std::string, std::map<double, const Json*>> series;
  for (const Json& row : rows) {
    std::string label;
    for (const std::string& axis : free) label += (label.empty() ? "" : ", ") + TextOf(row.value(axis, Json()));
    const Json*& best = series[label][NumberIn(row, "npus")];
    if (best == nullptr || NumberIn(row, "step_time_s") < NumberIn(*best, "step_time_s")) best = &row;
  }
  std::vector<Scaling> scalings;
  for (const auto& [label, by_npus] : series) {
    if (by_npus.size() < 2) continue;
    Scaling scaling{.label = label, .kind = {}, .steps = {}};
    for (const auto& [npus, row] : by_npus) {
      scaling.steps.push_back({.npus = npus, .time_s = NumberIn(*row, "step_time_s"), .row = *row});
      Scaling::Step& step = scaling.steps.back();
      const double rate = NumberIn(*row, "units_per_second_per_device");
      const double first = NumberIn(scaling.steps.front().row, "units_per_second_per_device");
      step.efficiency = std::isfinite(rate / first) ? rate / first : scaling.steps.front().time_s / step.time_s;
    }
    scaling.kind = KindOf(scaling.steps);
    scalings.push_back(std::move(scaling));
  }
  return scalings;
}

}  // namespace hespas::sweep
