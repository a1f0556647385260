// A line chart as SVG, with its figures readable without it: axes name their ends.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hespas::driver {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
};

// Both axes begin at 0; at most some hundred points a line are drawn.
std::string Chart(const std::vector<ChartLine>& lines, const std::string& x, const std::string& y);

}  // namespace hespas::driver
