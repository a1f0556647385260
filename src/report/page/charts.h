// Charts of pages as SVG: nothing to load, sharp in print, readable without a script.
//
// - Every mark has a title; marks may link to a place in the page.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::report {

// What a page's style needs for them, beside page.css.
inline constexpr char kChartStyle[] = R"(
.plot { width: 100%; max-width: 600px; height: auto; } .plot text { font-size: 12px; fill: var(--soft); } .rule { stroke: var(--line); }
.legend { font-size: .85rem; margin: 6px 0 0; } .legend span { margin-right: 14px; overflow-wrap: anywhere; }
@media (max-width: 520px) { .plot text { font-size: 17px; } }
)";

struct Mark {
  double x = 0;
  double y = 0;
  std::string title;
  std::string link;  // empty: none
};

struct Series {
  std::string name;
  std::vector<Mark> marks;
  bool line = false;
};

struct Chart {
  std::string label;  // what it shows, for who cannot see it
  std::string x_name;
  std::string y_name;
  std::function<std::string(double)> x_text = {};  // of a tick, with its unit; without one plain numbers
  std::function<std::string(double)> y_text = {};
  std::string x_data = {};  // what the page's data call the axis, for who picks values in the chart
  std::string y_data = {};
  bool log_x = false;
  bool log_y = false;
  std::vector<Series> series;
};

// Axes with ticks, marks, lines, a legend for two or more series.
std::string ScatterSvg(const Chart& chart);

struct HeatMap {
  std::string label;
  std::string column_axis;
  std::string row_axis;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<Mark>> cells;  // by row and column; y is the value, NaN where there is none
  std::vector<std::vector<std::string>> texts;
};

// A table whose cells are coloured from best (least) to worst.
std::string HeatTable(const HeatMap& map);

std::string EscapeAttribute(std::string_view text);

}  // namespace hespas::report
