#include "sweep/answer/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text/json.h"
#include "report/page/assets.h"
#include "report/page/charts.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"
#include "sweep/answer/analysis.h"
#include "sweep/answer/answers.h"
#include "sweep/answer/explore.h"

namespace hespas::sweep {
namespace {

using report::Chart;
using report::EscapeAttribute;
using report::EscapeHtml;
using report::HeatMap;
using report::HeatTable;
using report::Mark;
using report::ScatterSvg;
using report::Series;

constexpr size_t kListed = 1000;  // rows of the table of points
constexpr size_t kCells = 16;     // rows or columns of a heat map
constexpr size_t kLines = 6;      // scaling curves in one chart
constexpr size_t kMaps = 3;
constexpr char kStyle[] = R"(
.heat td { text-align: right; padding: 4px 8px; } .heat td a { color: inherit; text-decoration: none; }
tr:target { outline: 2px solid var(--accent); } td:nth-child(n + 7):last-child:not(.number) { min-width: 0; font: inherit; }
.program { border-top: 2px solid var(--line); padding-top: 16px; overflow-wrap: anywhere; } .points code { font-size: .78rem; } .points details { margin: 0; display: inline-block; } .heat th[scope="col"] { text-align: right; padding: 4px 8px; }
)";

uint64_t PointOf(const Json& row) { return row.at("point").get<uint64_t>(); }

std::string LinkTo(const Json& row) { return fmt::format("#point-{}", PointOf(row)); }

double ValueIn(const Json& row, const std::string& column) {
  const Json value = ValueOf(row, column);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// How ticks of a column's axis read.
std::function<std::string(double)> TextsOf(const std::string& column) {
  return [column](double value) { return HumanValue(column, Json(value)); };
}

class Page {
 public:
  // Of one program's rows; `number` tells its sections from those of others, 0 where there is one program.
  Page(const PageInput& input, const std::vector<Json>& rows, size_t number = 0) : input_(input), number_(number) {
    for (const Json& row : rows) {
      if (row.value("error", Json()).is_null()) good_.push_back(row);
    }
    if (!rows.empty()) program_ = ShortText(rows.front().value("program", Json("")));
    goal_ = ColumnCalled(input.minimise).value_or("step_time_s");
    // Without a price for each device energy is what compares them all.
    const bool priced = std::all_of(good_.begin(), good_.end(),
                                    [](const Json& row) { return row.value("cost_per_step", Json()).is_number(); });
    price_ = priced ? "cost_per_step" : "energy_all_devices_j";
    for (const std::string& axis : input.axes) {
      if (!good_.empty() && BinsOf(good_, axis, SIZE_MAX).labels.size() > 1) varying_.push_back(axis);
    }
  }

  std::string Above() const { return Cards() + Answers() + Explore(); }
  std::string Charts() const {
    return good_.empty() ? std::string() : Front() + Sensitivity() + ScalingCurves() + Maps();
  }
  std::string Below() const { return Failures() + Points(); }
  std::string Data() const {
    return good_.empty() ? std::string()
                         : report::DataScript("points-data", ExploreData(good_, varying_)) +
                               fmt::format("<script>\n{}\n</script>\n", report::assets::SweepJs());
  }

 private:
  std::string Section(const std::string& id, const std::string& heading, const std::string& text,
                      const std::string& body) const {
    return fmt::format(
        "<section id=\"{0}\"{4} aria-labelledby=\"{0}-heading\"><h2 id=\"{0}-heading\">{1}</h2>\n<p>{2}</p>\n"
        "{3}</section>\n",
        number_ == 0 ? id : fmt::format("{}-{}", id, number_), EscapeHtml(heading) + OfProgram(), EscapeHtml(text),
        body, number_ == 0 ? "" : fmt::format(" data-program=\"{}\"", EscapeAttribute(program_)));
  }
  std::string OfProgram() const { return number_ == 0 ? "" : fmt::format(" of program {}", number_); }
  static std::string Figure(const std::string& heading, const std::string& svg) {
    return fmt::format("<figure><figcaption><h3>{}</h3></figcaption>\n{}</figure>\n", EscapeHtml(heading), svg);
  }
  static std::string Scroll(const std::string& label, const std::string& table) {
    return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>\n", label,
                       table);
  }

  std::string Cards() const {
    const size_t feasible = Feasible(input_.rows, input_.constraints).size();
    const auto card = [](std::string_view name, size_t figure, std::string_view note) {
      return fmt::format(
          "<div class=\"card\"><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>\n", name, figure,
          note);
    };
    std::string conditions;
    for (const Expression& constraint : input_.constraints)
      conditions += (conditions.empty() ? "" : " and ") + EscapeHtml(constraint.text());
    return "<dl class=\"cards\">" + card("Points", input_.rows.size(), "rows in the folder") +
           card("Failed", input_.rows.size() - good_.size(), "see their error codes") +
           card("Meet the constraints", feasible, conditions.empty() ? "there are none" : conditions) + "</dl>\n";
  }

  std::string Answers() const {
    const auto answers = AnswersByProgram(input_.rows, input_.constraints, input_.minimise);
    std::string out = report::ToHtml(TableOf(answers, varying_));
    size_t done = 0;
    for (const Answer& answer : answers) {
      if (answer.row.is_null()) continue;
      const std::string number = JsonText(answer.row.at("point"));
      const std::string cell = "<td class=\"number\">" + number + "</td>";
      const size_t at = out.find(cell, out.find(EscapeHtml(answer.question), done));
      done = at;
      if (at != std::string::npos)
        out.replace(at, cell.size(), fmt::format("<td class=\"number\"><a href=\"#point-{0}\">{0}</a></td>", number));
    }
    std::string unequal;
    for (const std::string& program : ProgramsOf(input_.rows)) {
      if (unequal.empty()) unequal = WorkNote(RowsOf(input_.rows, program));
    }
    return Section("answers", unequal.empty() ? "Best points" : "Best points (unequal work)",
                   "Of the points that satisfy the constraints." + (unequal.empty() ? "" : " " + unequal),
                   Scroll("Table of the best points", out));
  }

  std::string Explore() const {
    if (good_.empty()) return {};
    return Section(
        "explore", "All points",
        "A line is a point. Drag along an axis, or over points of a chart below, to keep what lies there; charts and "
        "the table follow.",
        "<figure id=\"explore-chart\"></figure>");
  }

  std::string Front() const {
    const std::vector<size_t> front = ParetoFront(good_, "step_time_s", price_);
    const bool cost = price_ == "cost_per_step";
    Chart chart{.label = "Step time and cost of every point, with the Pareto front",
                .x_name = "step time",
                .y_name = cost ? "cost of a step" : "energy of a step",
                .x_text = TextsOf("step_time_s"),
                .y_text = TextsOf(price_),
                .x_data = "step time",
                .y_data = cost ? "cost of a step" : "energy of a step",
                .log_x = true,
                .log_y = true,
                .series = {{.name = "points", .marks = {}}, {.name = "Pareto front", .marks = {}, .line = true}}};
    for (const size_t i : DrawnOf(good_.size())) AddMark(good_[i], chart.series[0]);
    for (const size_t i : front) AddMark(good_[i], chart.series[1]);
    return Section("pareto", "Pareto front",
                   fmt::format("No point is better than those on the line in both step time and {}.",
                               cost ? "cost" : "energy of all devices"),
                   "<div class=\"grid\">" +
                       Figure(fmt::format("{} of {} points are on the Pareto front", front.size(), good_.size()),
                              ScatterSvg(chart)) +
                       Utilisation() + "</div>");
  }

  std::string Utilisation() const {
    Chart chart{.label = "Throughput of a device and MFU of the points",
                .x_name = "a second and device",
                .y_name = "MFU",
                .x_text = TextsOf("units_per_second_per_device"),
                .y_text = TextsOf("mfu"),
                .x_data = "a second and device",
                .y_data = "MFU",
                .log_x = true,
                .series = {{.name = "points", .marks = {}}}};
    for (const size_t i : DrawnOf(good_.size())) {
      const Json& row = good_[i];
      const double x = ValueIn(row, "units_per_second_per_device");
      const double y = ValueIn(row, "mfu");
      if (x > 0 && y > 0) chart.series[0].marks.push_back({x, y, TitleOf(row, varying_), LinkTo(row)});
    }
    return chart.series[0].marks.empty() ? std::string() : Figure("Throughput and MFU", ScatterSvg(chart));
  }

  void AddMark(const Json& row, Series& series) const {
    const double x = ValueIn(row, "step_time_s");
    const double y = ValueIn(row, price_);
    if (x > 0 && y > 0) series.marks.push_back({x, y, TitleOf(row, varying_), LinkTo(row)});
  }

  std::string Sensitivity() const {
    std::string rows;
    for (const Effect& effect : EffectsOf(good_, varying_, goal_)) {
      rows += fmt::format(
          "<div class=\"row\"><span class=\"name\">{}</span><span class=\"track\" aria-hidden=\"true\"><i "
          "class=\"faster\" "
          "style=\"left:0;width:{:.2f}%\"></i></span><span class=\"by\">{:.1f} %, {:.3g}x</span></div>\n",
          EscapeHtml(effect.axis), 100 * effect.share, 100 * effect.share, effect.slowest);
    }
    if (rows.empty()) rows = "<p>Nothing varies.</p>";
    return Section("sensitivity", "Which axis matters",
                   fmt::format("Fraction of the variance of log({}) that each axis explains alone, and the ratio of "
                               "the means at its worst and best value.",
                               goal_),
                   "<figure class=\"share\">" + rows + "</figure>");
  }

  std::string ScalingCurves() const {
    std::vector<Scaling> scalings = ScalingsOf(good_, varying_);
    if (scalings.empty()) return {};
    std::stable_sort(scalings.begin(), scalings.end(),
                     [](const auto& a, const auto& b) { return a.steps.size() > b.steps.size(); });
    const size_t left_out = scalings.size() > kLines ? scalings.size() - kLines : 0;
    scalings.resize(scalings.size() - left_out);
    Chart times{.label = "Step time by number of devices",
                .x_name = "devices",
                .y_name = "step time",
                .y_text = TextsOf("step_time_s"),
                .log_x = true,
                .log_y = true,
                .series = {}};
    Chart shares{.label = "Parallel efficiency by number of devices",
                 .x_name = "devices",
                 .y_name = "efficiency (%)",
                 .log_x = true,
                 .series = {}};
    for (const Scaling& scaling : scalings) {
      const std::string name = scaling.kind + (scaling.label.empty() ? "" : ": " + scaling.label);
      Series time{.name = name, .marks = {}, .line = true};
      Series share = time;
      for (const Scaling::Step& step : scaling.steps) {
        const std::string title =
            fmt::format("{}, efficiency {:.1f} %", TitleOf(step.row, varying_), 100 * step.efficiency);
        time.marks.push_back({step.npus, step.time_s, title, LinkTo(step.row)});
        share.marks.push_back({step.npus, 100 * step.efficiency, title, LinkTo(step.row)});
      }
      times.series.push_back(std::move(time));
      shares.series.push_back(std::move(share));
    }
    const std::string more = left_out > 0 ? fmt::format(" {} further curves are not drawn.", left_out) : "";
    return Section("scaling", "Scaling",
                   "Least step time for each number of devices. Strong: the work of a step stays; weak: the work of a "
                   "device stays. Efficiency is work per second and device, over that of the fewest devices." +
                       more,
                   "<div class=\"grid\">" + Figure("Step time", ScatterSvg(times)) +
                       Figure("Parallel efficiency", ScatterSvg(shares)) + FixedWork(scalings) + "</div>");
  }

  // Strong scaling of a whole run: the same tokens, whatever a step takes of them.
  std::string FixedWork(const std::vector<Scaling>& scalings) const {
    Chart chart{.label = "Time for the same tokens by number of devices",
                .x_name = "devices",
                .y_name = "time of the run",
                .y_text = TextsOf("run_time_s"),
                .log_x = true,
                .log_y = true,
                .series = {}};
    for (const Scaling& scaling : scalings) {
      Series series{.name = scaling.label.empty() ? "run" : scaling.label, .marks = {}, .line = true};
      for (const Scaling::Step& step : scaling.steps) {
        const double time = ValueIn(step.row, "run_time_s");
        if (std::isfinite(time))
          series.marks.push_back({step.npus, time, TitleOf(step.row, varying_), LinkTo(step.row)});
      }
      if (!series.marks.empty()) chart.series.push_back(std::move(series));
    }
    return chart.series.empty() ? std::string()
                                : Figure("Strong scaling: the same tokens on more devices", ScatterSvg(chart));
  }

  std::string Maps() const {
    std::string out;
    const std::vector<Effect> effects = EffectsOf(good_, varying_, goal_);
    size_t drawn = 0;
    for (size_t i = 0; i < effects.size() && drawn < kMaps; ++i) {
      for (size_t j = i + 1; j < effects.size() && drawn < kMaps; ++j, ++drawn)
        out += Figure(effects[i].axis + " and " + effects[j].axis, Map(effects[i].axis, effects[j].axis));
    }
    if (out.empty()) return {};
    return Section("maps", "Heat maps",
                   fmt::format("The least {} for two axes at a time, whatever the others are.", goal_),
                   "<div class=\"grid\">" + out + "</div>");
  }

  std::string Map(const std::string& row_axis, const std::string& column_axis) const {
    const Bins rows = BinsOf(good_, row_axis, kCells);
    const Bins columns = BinsOf(good_, column_axis, kCells);
    const Mark none{.y = std::numeric_limits<double>::quiet_NaN()};
    HeatMap map{.label = fmt::format("Heat map of {} and {}", row_axis, column_axis) + OfProgram(),
                .column_axis = column_axis,
                .row_axis = row_axis,
                .columns = columns.labels,
                .rows = rows.labels,
                .cells = {},
                .texts = {}};
    map.cells.assign(rows.labels.size(), std::vector<Mark>(columns.labels.size(), none));
    map.texts.assign(rows.labels.size(), std::vector<std::string>(columns.labels.size()));
    for (size_t i = 0; i < good_.size(); ++i) {
      Mark& cell = map.cells[rows.of_row[i]][columns.of_row[i]];
      const double value = ValueIn(good_[i], goal_);
      if (std::isfinite(cell.y) && !(value < cell.y)) continue;
      cell = {.y = value, .title = {}, .link = LinkTo(good_[i])};
      map.texts[rows.of_row[i]][columns.of_row[i]] = HumanValue(goal_, ValueOf(good_[i], goal_));
    }
    return HeatTable(map);
  }

  std::string Failures() const {
    std::map<std::pair<std::string, std::string>, size_t> counts;
    for (const Json& row : input_.rows) {
      if (!row.value("error", Json()).is_null()) ++counts[{TextOf(row["error"]), TextOf(row["message"])}];
    }
    if (counts.empty()) return {};
    report::Table table{.columns = {{"points", report::Align::kRight}, {"error"}, {"first message"}}, .rows = {}};
    for (const auto& [what, count] : counts) {
      if (table.rows.size() < 20) table.rows.push_back({std::to_string(count), what.first, what.second});
    }
    return Section("failures", "Points that failed", "`hespas explain CODE` says more.",
                   Scroll("Table of failures", report::ToHtml(table)));
  }

  // Every listed point opens: its own report where there is one, and the command that makes it.
  std::string Points() const {
    std::string out = "<table class=\"points\"><thead><tr><th scope=\"col\">point</th>";
    for (const std::string& axis : input_.axes) out += "<th scope=\"col\">" + EscapeHtml(axis) + "</th>";
    out +=
        "<th scope=\"col\" class=\"number\">devices</th><th scope=\"col\" class=\"number\">step</th>"
        "<th scope=\"col\" class=\"number\">per second and device</th><th scope=\"col\" class=\"number\">MFU</th>"
        "<th scope=\"col\">opens</th></tr></thead>\n<tbody>\n";
    std::map<uint64_t, const Json*> by_point;
    for (const Json& row : input_.rows) by_point[PointOf(row)] = &row;
    const std::vector<uint64_t> listed = Listed(input_.rows, input_.constraints, input_.minimise);
    for (const uint64_t point : listed) out += PointRow(*by_point.at(point));
    const std::string text = listed.size() < input_.rows.size() ? fmt::format("The best {} of {}; rows.csv has all.",
                                                                              listed.size(), input_.rows.size())
                                                                : "All of them, best first.";
    return Section("points", "Points", text + " `hespas sweep-report DIR --point N` makes the report of any other.",
                   Scroll("Table of all points", out + "</tbody></table>"));
  }

  std::string PointRow(const Json& row) const {
    const uint64_t point = PointOf(row);
    std::string out = fmt::format("<tr id=\"point-{0}\"><td>{0}</td>", point);
    for (const std::string& axis : input_.axes)
      out += "<td>" + EscapeHtml(ShortText(row.value(axis, Json()))) + "</td>";
    const bool failed = !row.value("error", Json()).is_null();
    const auto number = [&](const std::string& text) { out += "<td class=\"number\">" + EscapeHtml(text) + "</td>"; };
    number(failed ? "" : JsonText(row["npus"]));
    number(failed ? TextOf(row["error"]) : HumanValue("step_time_s", row["step_time_s"]));
    for (const char* column : {"units_per_second_per_device", "model_flops_utilisation"})
      number(failed ? "" : HumanValue(column, ValueOf(row, column)));
    const auto report = input_.reports.find(point);
    const auto command = input_.commands.find(point);
    out += "<td>";
    if (report != input_.reports.end())
      out += fmt::format("<a href=\"{}\">report</a> ", EscapeAttribute(report->second));
    if (command != input_.commands.end())
      out += "<details><summary>command</summary><code>" + EscapeHtml(command->second) + "</code></details>";
    return out + "</td></tr>\n";
  }

  const PageInput& input_;
  std::vector<Json> good_;
  std::vector<std::string> varying_;
  std::string goal_;
  std::string price_;
  size_t number_ = 0;
  std::string program_;
};

// Several programs have charts of their own: their steps cannot be compared.
std::string ChartsByProgram(const PageInput& input) {
  const std::vector<std::string> programs = ProgramsOf(input.rows);
  if (programs.size() < 2) return Page(input, input.rows).Charts();
  std::string out;
  for (size_t i = 0; i < programs.size(); ++i) {
    const std::string name = programs[i].substr(programs[i].rfind('/') + 1);
    out += fmt::format("<h2 class=\"program\">Program {}: {}</h2>\n", i + 1, EscapeHtml(name)) +
           Page(input, RowsOf(input.rows, programs[i]), i + 1).Charts();
  }
  return out;
}

}  // namespace

std::vector<uint64_t> Highlights(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                                 const std::string& minimise) {
  std::vector<uint64_t> points;
  std::set<uint64_t> seen;
  const auto add = [&](const Json& row) {
    if (!row.is_null() && seen.insert(PointOf(row)).second) points.push_back(PointOf(row));
  };
  for (const Answer& answer : AnswersByProgram(rows, constraints, minimise)) add(answer.row);
  for (const char* price : {"cost_per_step", "energy_all_devices_j"}) {
    for (const size_t i : ParetoFront(rows, "step_time_s", price)) add(rows[i]);
  }
  for (const uint64_t point : Listed(rows, constraints, minimise)) {
    if (seen.insert(point).second) points.push_back(point);
  }
  return points;
}

std::vector<uint64_t> Listed(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                             const std::string& minimise) {
  const std::string goal = ColumnCalled(minimise).value_or("step_time_s");
  std::set<uint64_t> feasible;
  for (const Json* row : Feasible(rows, constraints)) feasible.insert(PointOf(*row));
  std::vector<std::pair<std::pair<bool, double>, uint64_t>> order;
  for (const Json& row : rows) {
    const double value = ValueIn(row, goal);
    order.push_back(
        {{!feasible.contains(PointOf(row)), std::isfinite(value) ? value : std::numeric_limits<double>::infinity()},
         PointOf(row)});
  }
  std::stable_sort(order.begin(), order.end());
  std::vector<uint64_t> points;
  for (size_t i = 0; i < std::min(order.size(), kListed); ++i) points.push_back(order[i].second);
  return points;
}

std::string SweepPage(const PageInput& input) {
  const Page page(input, input.rows);
  return report::PageOf({.title = input.title,
                         .heading = input.title,
                         .subtitle = fmt::format("{} points", input.rows.size()),
                         .body = page.Above() + ChartsByProgram(input) + page.Below(),
                         .scripts = page.Data(),
                         .style = std::string(report::kChartStyle) + kStyle});
}

}  // namespace hespas::sweep
