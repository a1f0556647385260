// Line and bar charts as SVG: axes have ticks and units, lines and parts a legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hespas::driver {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
  bool dots = false;                              // instead of a line between them
};

struct ChartBar {
  double from = 0, to = 0;
  double lower = 0, upper = 0;  // one part above the other
};

// Both axes begin at 0, bars at the first one's `from`.
std::string BarChart(const std::vector<ChartBar>& bars, const std::vector<std::string>& names, const std::string& x,
                     const std::string& y);

// Both axes begin at 0; at most some hundred points a line are drawn.
std::string Chart(const std::vector<ChartLine>& lines, const std::string& x, const std::string& y);

}  // namespace hespas::driver
