#include "driver/serving/chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/page/html_text.h"

namespace hespas::driver {
namespace {

constexpr double kWidth = 480;
constexpr double kHeight = 260;
constexpr size_t kMostPoints = 400;
constexpr const char* kColours[] = {"#2563eb", "#d97706", "#059669"};

struct Axis {
  const std::string& name;
  double most;
};

// Four to ten of 1, 2 or 5 times a power of ten, up to the end of the axis.
std::vector<double> TicksOf(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 4)));
  const double rough = most / 4 / power;
  const double step = (rough >= 5 ? 5 : rough >= 2 ? 2 : 1) * power;
  std::vector<double> ticks;
  for (int i = 0; i * step <= most * (1 + 1e-9); ++i) ticks.push_back(i * step);
  return ticks;
}

std::string Frame(const Axis& x, const Axis& y) {
  std::string out;
  for (const double tick : TicksOf(y.most)) {
    const double at = kHeight - tick / y.most * kHeight;
    out += fmt::format(
        "<path class=\"rule\" d=\"M0 {0:.1f}H{1}\"/><text x=\"-6\" y=\"{2:.1f}\" text-anchor=\"end\">{3:.4g}</text>",
        at, kWidth, at + 4, tick);
  }
  for (const double tick : TicksOf(x.most)) {
    const double at = tick / x.most * kWidth;
    out += fmt::format(
        "<path class=\"rule\" d=\"M{0:.1f} 0V{1}\"/><text x=\"{0:.1f}\" y=\"{2}\" "
        "text-anchor=\"middle\">{3:.4g}</text>",
        at, kHeight, kHeight + 16, tick);
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", kWidth / 2, kHeight + 34,
                           report::EscapeHtml(x.name));
}

// "running, waiting": of several lines each has its colour below the chart.
std::string Legend(const std::vector<std::string>& names) {
  if (names.size() < 2) return {};
  std::string out = "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    out += fmt::format("<span><i class=\"swatch\" style=\"background:{}\"></i>{}</span> ",
                       kColours[i % std::size(kColours)], report::EscapeHtml(names[i]));
  }
  return out + "</p>";
}

std::string Framed(const std::string& marks, const std::vector<std::string>& names, const Axis& x, const Axis& y) {
  const std::string all = report::EscapeHtml(fmt::format("{}", fmt::join(names, ", ")));
  const std::string unit = report::EscapeHtml(y.name);
  return fmt::format(
      "<figure><figcaption><h3>{0}: {1}</h3></figcaption><svg class=\"plot\" role=\"img\" aria-label=\"{0}, {1} over "
      "{2}\" "
      "viewBox=\"-60 -10 {3} {4}\">{5}{6}</svg>{7}</figure>\n",
      all, unit, report::EscapeHtml(x.name), kWidth + 80, kHeight + 54, Frame(x, y), marks, Legend(names));
}

std::string Dots(const std::vector<std::pair<double, double>>& points, const char* colour, double most_x,
                 double most_y) {
  std::string out;
  for (const auto& [x, y] : points) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>", x / most_x * kWidth,
                       kHeight - y / most_y * kHeight, colour);
  }
  return out;
}

}  // namespace

std::string BarChart(const std::vector<ChartBar>& bars, const std::vector<std::string>& names, const std::string& x,
                     const std::string& y) {
  if (bars.empty()) return {};
  const double start = bars.front().from;
  double most_x = 0;
  double most_y = 0;
  for (const ChartBar& bar : bars) {
    most_x = std::max(most_x, bar.to - start);
    most_y = std::max(most_y, bar.lower + bar.upper);
  }
  if (!(most_x > 0 && most_y > 0)) return {};
  std::string marks;
  for (const ChartBar& bar : bars) {
    double base = kHeight;
    const double parts[] = {bar.lower, bar.upper};
    for (size_t part = 0; part < std::size(parts); ++part) {
      if (parts[part] <= 0) continue;
      const double height = parts[part] / most_y * kHeight;
      base -= height;
      marks += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>",
                           (bar.from - start) / most_x * kWidth, base,
                           std::max(0.3, 0.9 * (bar.to - bar.from) / most_x * kWidth), height, kColours[part]);
    }
  }
  return Framed(marks, names, {x, most_x}, {y, most_y});
}

std::string Chart(const std::vector<ChartLine>& lines, const std::string& x, const std::string& y) {
  double most_x = 0;
  double most_y = 0;
  std::vector<std::string> names;
  for (const ChartLine& line : lines) {
    names.push_back(line.name);
    for (const auto& [at, value] : line.points) {
      most_x = std::max(most_x, at);
      most_y = std::max(most_y, value);
    }
  }
  if (!(most_x > 0 && most_y > 0)) return {};
  std::string paths;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& points = lines[i].points;
    if (lines[i].dots) {
      paths += Dots(points, kColours[i % std::size(kColours)], most_x, most_y);
      continue;
    }
    const size_t stride = std::max<size_t>(points.size() / kMostPoints, 1);
    std::string path;
    for (size_t p = 0; p < points.size(); p += stride) {
      path += fmt::format("{:.1f},{:.1f} ", points[p].first / most_x * kWidth,
                          kHeight - points[p].second / most_y * kHeight);
    }
    paths += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" points=\"{}\"/>",
                         kColours[i % std::size(kColours)], path);
  }
  return Framed(paths, names, {x, most_x}, {y, most_y});
}

}  // namespace hespas::driver
