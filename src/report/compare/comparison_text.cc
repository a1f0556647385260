// A comparison for a terminal, as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/text/json.h"
#include "report/compare/comparison.h"
#include "report/compare/comparison_models.h"
#include "report/text/efficiency.h"
#include "report/text/headline.h"
#include "report/text/unit_column.h"

namespace hespas::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kScreenLines = 24;
constexpr size_t kLabelWidth = 10;
constexpr size_t kTotalsLabelWidth = 18;
constexpr size_t kOpWidth = 20;

std::string Cut(std::string text, size_t width) {
  if (text.size() <= width) return text;
  return "..." + text.substr(text.size() - (width - 3));
}

// "fusion: reduce" of "fusion of stablehlo.reduce".
std::string ShortOp(std::string op) {
  constexpr std::string_view kFusion = "fusion of ";
  const bool fusion = op.starts_with(kFusion);
  if (fusion) op.erase(0, kFusion.size());
  for (const std::string_view dialect : {"stablehlo.", "mhlo."}) {
    if (op.starts_with(dialect)) op.erase(0, dialect.size());
  }
  return Cut((fusion ? "fusion: " : "") + op, kOpWidth);
}

// Beginnings that tell the sides apart, or else numbers.
std::vector<std::string> ShortLabels(const std::vector<std::string>& labels) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const std::string& label : labels) {
    out.push_back(label.substr(0, kLabelWidth));
    seen.insert(out.back());
  }
  if (seen.size() == out.size()) return out;
  for (size_t side = 0; side < out.size(); ++side) out[side] = std::to_string(side + 1);
  return out;
}

double Ratio(Time part, Time whole) {
  return whole.value == 0 ? 0 : static_cast<double>(part.value) / static_cast<double>(whole.value);
}

std::string RatioText(Time part, Time whole) {
  return whole.value == 0 ? "" : fmt::format("{:.3f}", Ratio(part, whole));
}

// Columns of times in one unit, and behind them what the last side differs (of two) or the ratios to the first.
// Returns the unit, " [ms]".
std::string AddTimes(Table& table, const std::vector<std::string>& labels, const std::vector<std::vector<Time>>& rows) {
  const size_t sides = labels.size();
  const bool two = sides == 2;
  std::vector<Time> all;
  for (size_t side = 0; side < sides; ++side) {
    for (const auto& row : rows) all.push_back(row[side]);
  }
  if (two) {
    for (const auto& row : rows) all.push_back(row[1] - row[0]);
  }
  const UnitColumn cells = TimeColumn("", all);
  const auto column = [&](size_t at, const std::string& name, bool sign) {
    UnitColumn out{.column = {name, Align::kRight}, .cells = {}};
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t k = at * rows.size() + i;
      out.cells.push_back((sign && all[k] > Time() ? "+" : "") + cells.cells[k]);
    }
    AddColumn(table, std::move(out));
  };
  for (size_t side = 0; side < sides; ++side) column(side, labels[side], false);
  if (two) column(sides, "change", true);
  for (size_t side = 1; side < sides; ++side) {
    UnitColumn ratio{.column = {two ? "ratio" : fmt::format("{}/1", side + 1), Align::kRight}, .cells = {}};
    for (const auto& row : rows) ratio.cells.push_back(RatioText(row[side], row[0]));
    AddColumn(table, std::move(ratio));
  }
  return cells.column.name;
}

std::string Counts(const ComparedRow& row) {
  if (row.matched() && !row.parts) return std::to_string(row.count[0]);
  std::string out;
  for (const int64_t n : row.count) out += (out.empty() ? "" : "/") + std::to_string(n);
  return out;
}

// Once where all sides agree.
std::string Bounds(const ComparedRow& row) {
  const bool same = std::equal(row.bound.begin() + 1, row.bound.end(), row.bound.begin());
  if (same) return row.bound[0];
  std::string out;
  for (size_t side = 0; side < row.bound.size(); ++side) {
    const std::string& bound = row.bound[side];
    out += (side > 0 ? "/" : "") + (bound.empty()        ? "-"
                                    : bound == "compute" ? "comp"
                                    : bound == "memory"  ? "mem"
                                                         : bound);
  }
  return out;
}

// "12 blocks only in A (1.2 ms); 3 only in B (40 us)"; "" where all have partners.
std::string Unmatched(const Comparison& comparison) {
  std::string out;
  for (size_t side = 0; side < comparison.labels.size(); ++side) {
    Time sum;
    size_t count = 0;
    for (const ComparedRow& row : comparison.rows) {
      if (row.matched() || row.count[side] == 0) continue;
      ++count;
      sum += row.time[side];
    }
    if (count == 0) continue;
    out += fmt::format("{}{} only in {} ({})", out.empty() ? "" : "; ", count, comparison.labels[side], HumanTime(sum));
  }
  return out.empty() ? out : Wrapped(out);
}

std::string NumberOr(const std::optional<double>& value) { return value ? HumanNumber(*value) : "-"; }
std::string Energy(const result::RunResult& r) {
  const auto energy = r.energy_per_million();
  return energy ? HumanEnergy(*energy) : "-";
}
std::string Cost(const result::RunResult& r) {
  const auto cost = r.cost_per_million();
  return cost ? HumanMoney(*cost, r.price->currency) : "-";
}
std::string Memory(const result::RunResult& r) {
  if (!r.peak_memory) return "-";
  return HumanBytes(*r.peak_memory) + (!r.fits_in_memory ? "" : *r.fits_in_memory ? ", fits" : ", NO FIT");
}
// Both from older results, too, where the second is 0.
std::string Utilisation(const result::RunResult& r) {
  if (!r.model_flops_utilisation && r.hardware_flops_utilisation == 0) return "-";
  const std::string mfu = r.model_flops_utilisation ? HumanPercent(*r.model_flops_utilisation) : "-";
  return fmt::format("{} / {}", mfu, HumanPercent(r.hardware_flops_utilisation));
}

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json Row(const ComparedRow& row) {
  Json times = Json::array();
  Json differences = Json::array();
  Json ratios = Json::array();
  Json blocks = Json::array();
  for (const Time time : row.time) {
    times.push_back(time.value);
    differences.push_back((time - row.time[0]).value);
    ratios.push_back(row.time[0].value == 0 ? Json(nullptr) : Json(Ratio(time, row.time[0])));
  }
  for (const int64_t block : row.block) blocks.push_back(block < 0 ? Json(nullptr) : Json(block));
  return {{"op", row.op},       {"kind", row.kind},         {"shapes", row.shapes},
          {"match", row.key},   {"matched", row.matched()}, {"block", blocks},
          {"count", row.count}, {"time_ps", times},         {"difference_ps", differences},
          {"ratio", ratios},    {"bound", row.bound}};
}

Json Rows(const std::vector<ComparedRow>& rows, bool of_several) {
  Json out = Json::array();
  for (const ComparedRow& row : rows) {
    out.push_back(Row(row));
    if (of_several) out.back().erase("block");
  }
  return out;
}

Json Side(const std::string& label, const result::RunResult& r, Time first) {
  return {{"label", label},
          {"program", r.program.path},
          {"sha256", r.program.sha256},
          {"device", r.device},
          {"system", r.system},
          {"npus", r.npus},
          {"estimator", r.estimator},
          {"optimise", r.optimise},
          {"step_time_s", r.step_time.seconds()},
          {"step_time_ps", r.step_time.value},
          {"step_time_sigma_s", r.step_time_sigma ? Json(r.step_time_sigma->seconds()) : Json()},
          {"network_model", r.network_model.empty() ? Json() : Json(r.network_model)},
          {"compute_time_ps", r.compute_time.value},
          {"exposed_communication_ps", r.exposed_communication.value},
          {"idle_ps", r.idle.value},
          {"flops_all_devices", r.flops_of_all()},
          {"unit", r.throughput ? Json(r.throughput->unit) : Json()},
          {"units_per_step", OrNull(r.batch())},
          {"units_per_second_per_device", OrNull(r.rate_per_device())},
          {"model_flops_utilisation", OrNull(r.model_flops_utilisation)},
          {"hardware_flops_utilisation", r.hardware_flops_utilisation},
          {"peak_memory_bytes", r.peak_memory ? Json(r.peak_memory->value) : Json()},
          {"fits_in_memory", OrNull(r.fits_in_memory)},
          {"energy_j_per_million", OrNull(r.energy_per_million())},
          {"cost_per_million", OrNull(r.cost_per_million())},
          {"difference_ps", (r.step_time - first).value},
          {"ratio", first.value == 0 ? Json(nullptr) : Json(Ratio(r.step_time, first))}};
}

// Results of older versions, and profiles, do not tell it.
bool HasWork(const Comparison& comparison) {
  return std::all_of(comparison.results.begin(), comparison.results.end(),
                     [](const result::RunResult& r) { return r.flops.value > 0; });
}

}  // namespace

std::string ModelsText(const Comparison& comparison) {
  const std::vector<result::RunResult>& sides = comparison.results;
  const std::string first = ModelsLine(sides[0]);
  const bool same = std::all_of(sides.begin(), sides.end(), [&](const auto& r) { return ModelsLine(r) == first; });
  if (same) return first + "\n";
  std::string out;
  for (size_t side = 0; side < sides.size(); ++side)
    out += Wrapped(fmt::format("{}: {}", Cut(comparison.labels[side], kTotalsLabelWidth), ModelsLine(sides[side])));
  return out;
}

Table TotalsTable(const Comparison& comparison) {
  struct Figure {
    const char* name;
    Time result::RunResult::*member;
  };
  constexpr Figure kFigures[] = {{"step time", &result::RunResult::step_time},
                                 {"  compute", &result::RunResult::compute_time},
                                 {"  exposed communication", &result::RunResult::exposed_communication},
                                 {"  idle", &result::RunResult::idle}};
  UnitColumn names{.column = {""}, .cells = {}};
  std::vector<std::vector<Time>> rows;
  for (const Figure& figure : kFigures) {
    std::vector<Time> row;
    for (const result::RunResult& r : comparison.results) row.push_back(r.*figure.member);
    const bool idles = std::any_of(row.begin(), row.end(), [](Time time) { return time != Time(); });
    if (!idles && figure.member == &result::RunResult::idle) continue;
    names.cells.emplace_back(figure.name);
    rows.push_back(std::move(row));
  }
  Table table;
  AddColumn(table, std::move(names));
  std::vector<std::string> labels;
  for (const std::string& label : comparison.labels) labels.push_back(Cut(label, kTotalsLabelWidth));
  table.columns[0].name = "time" + AddTimes(table, labels, rows);
  return table;
}

Table WorkTable(const Comparison& comparison) {
  struct Figure {
    const char* name;
    std::string (*text)(const result::RunResult& r);
  };
  constexpr Figure kFigures[] = {
      {"step time +-",
       [](const result::RunResult& r) { return r.step_time_sigma ? HumanTime(*r.step_time_sigma) : "-"; }},
      {"tokens or samples a step", [](const result::RunResult& r) { return NumberOr(r.batch()); }},
      {"  a second and device", [](const result::RunResult& r) { return NumberOr(r.rate_per_device()); }},
      {"FLOPs of all devices", [](const result::RunResult& r) { return HumanNumber(r.flops_of_all()); }},
      {"MFU / HFU", Utilisation},
      {"peak memory", Memory},
      {"energy of a million", Energy},
      {"cost of a million", Cost}};
  Table table;
  UnitColumn names{.column = {"work"}, .cells = {}};
  // What no side has is no row.
  std::vector<Figure> figures;
  for (const Figure& figure : kFigures) {
    const auto has = [&](const result::RunResult& r) { return figure.text(r) != "-"; };
    if (std::ranges::any_of(comparison.results, has)) figures.push_back(figure);
  }
  for (const Figure& figure : figures) names.cells.emplace_back(figure.name);
  AddColumn(table, std::move(names));
  for (size_t side = 0; side < comparison.labels.size(); ++side) {
    UnitColumn cells{.column = {Cut(comparison.labels[side], kTotalsLabelWidth), Align::kRight}, .cells = {}};
    for (const Figure& figure : figures) cells.cells.push_back(figure.text(comparison.results[side]));
    AddColumn(table, std::move(cells));
  }
  return table;
}

Table DifferenceTable(const Comparison& comparison, const std::vector<ComparedRow>& rows,
                      const DifferenceStyle& style) {
  UnitColumn names{.column = {style.title}, .cells = {}};
  UnitColumn counts{.column = {"count", Align::kRight}, .cells = {}};
  UnitColumn bounds{.column = {"bound"}, .cells = {}};
  UnitColumn shapes{.column = {"shapes"}, .cells = {}};
  std::vector<std::vector<Time>> times;
  for (size_t i = 0; i < std::min(style.shown, rows.size()); ++i) {
    names.cells.push_back(style.page ? rows[i].op : ShortOp(rows[i].op));
    counts.cells.push_back(Counts(rows[i]));
    bounds.cells.push_back(Bounds(rows[i]));
    shapes.cells.push_back(rows[i].shapes);
    times.push_back(rows[i].time);
  }
  const bool bound = std::any_of(bounds.cells.begin(), bounds.cells.end(), [](const auto& b) { return !b.empty(); });
  Table table;
  AddColumn(table, std::move(names));
  AddColumn(table, std::move(counts));
  table.columns[0].name += AddTimes(table, style.page ? comparison.labels : ShortLabels(comparison.labels), times);
  if (bound) AddColumn(table, std::move(bounds));
  if (style.shapes) AddColumn(table, std::move(shapes));
  return table;
}

Table BlockRows(const Comparison& comparison) {
  Table table{.columns = {{"op"}, {"kind"}, {"shapes"}, {"match"}}, .rows = {}};
  for (const std::string& label : comparison.labels) {
    table.columns.push_back({label + " block", Align::kRight});
    table.columns.push_back({label + " time_ps", Align::kRight});
    table.columns.push_back({label + " bound"});
  }
  for (size_t side = 1; side < comparison.labels.size(); ++side) {
    table.columns.push_back({comparison.labels[side] + " difference_ps", Align::kRight});
    table.columns.push_back({comparison.labels[side] + " ratio", Align::kRight});
  }
  const auto add = [&](const ComparedRow& row) {
    std::vector<std::string> cells = {row.op, row.kind, row.shapes, row.key};
    for (size_t side = 0; side < row.time.size(); ++side) {
      cells.push_back(row.block[side] < 0 ? "" : std::to_string(row.block[side]));
      cells.push_back(row.count[side] == 0 ? "" : std::to_string(row.time[side].value));
      cells.push_back(row.bound[side]);
    }
    for (size_t side = 1; side < row.time.size(); ++side) {
      cells.push_back(std::to_string((row.time[side] - row.time[0]).value));
      cells.push_back(RatioText(row.time[side], row.time[0]));
    }
    table.rows.push_back(std::move(cells));
  };
  const size_t sides = comparison.labels.size();
  ComparedRow total{.op = "total",
                    .block = std::vector<int64_t>(sides, -1),
                    .count = std::vector<int64_t>(sides, 1),
                    .time = {},
                    .bound = std::vector<std::string>(sides)};
  for (const ComparedRow& row : comparison.rows) add(row);
  for (const result::RunResult& r : comparison.results) total.time.push_back(r.step_time);
  add(total);
  return table;
}

std::string ToText(const Comparison& comparison) {
  const result::RunResult& first = comparison.results[0];
  std::string out = fmt::format("{}: {}\n{}\n", Cut(first.program.path, 40), comparison.title, ModelsText(comparison));
  for (const std::string& note : comparison.notes) out += Wrapped(note);
  if (!comparison.notes.empty()) out += "\n";
  out += ToText(TotalsTable(comparison)) + "\n";
  if (HasWork(comparison)) out += ToText(WorkTable(comparison)) + "\n";
  const std::string unmatched = Unmatched(comparison);
  const auto used = static_cast<size_t>(std::count(out.begin(), out.end(), '\n')) + (unmatched.empty() ? 1 : 3);
  const size_t left = kScreenLines - std::min(kScreenLines - 4, used);
  DifferenceStyle largest{.title = "differences", .shown = left};
  if (unmatched.empty()) return out + ToText(DifferenceTable(comparison, comparison.groups, largest));
  // Programs that share little are told apart by kind.
  const DifferenceStyle kinds{.title = "by kind", .shown = std::min(comparison.kinds.size(), left / 2 - 1)};
  largest.shown = left - kinds.shown - 2;
  out += ToText(DifferenceTable(comparison, comparison.kinds, kinds)) + "\n";
  return out + ToText(DifferenceTable(comparison, comparison.groups, largest)) + unmatched;
}

std::string ToJson(const Comparison& comparison, int indent) {
  Json sides = Json::array();
  for (size_t side = 0; side < comparison.labels.size(); ++side) {
    sides.push_back(Side(comparison.labels[side], comparison.results[side], comparison.results[0].step_time));
  }
  Json unmatched = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    if (!row.matched()) unmatched.push_back(Row(row));
  }
  const Json out{{"schema_version", 1},
                 {"dimension", comparison.dimension},
                 {"sides", std::move(sides)},
                 {"notes", comparison.notes},
                 {"largest_difference_percent", comparison.LargestDifference()},
                 {"kinds", Rows(comparison.kinds, true)},
                 {"layers", Rows(comparison.layers, true)},
                 {"groups", Rows(comparison.groups, true)},
                 {"blocks", Rows(comparison.rows, false)},
                 {"unmatched", std::move(unmatched)}};
  return JsonText(out, indent) + (indent >= 0 ? "\n" : "");
}

}  // namespace hespas::report
