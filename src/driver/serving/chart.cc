#include "driver/serving/chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/page/html_text.h"

namespace hespas::driver {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 200;
constexpr size_t kMostPoints = 400;
constexpr const char* kColours[] = {"#2563eb", "#d97706", "#059669"};

struct Axis {
  const std::string& name;
  double most;
};

std::string Framed(const std::string& marks, const std::string& names, const Axis& x, const Axis& y) {
  return fmt::format(
      "<figure><figcaption><h3>{}</h3></figcaption><svg role=\"img\" aria-label=\"{} over {}\" viewBox=\"-60 -10 {} "
      "{}\" "
      "width=\"100%\" fill=\"currentColor\" font-size=\"11\"><line x1=\"0\" y1=\"{}\" x2=\"{}\" y2=\"{}\" "
      "stroke=\"currentColor\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"{}\" stroke=\"currentColor\"/>{}<text x=\"-4\" "
      "y=\"8\" text-anchor=\"end\">{:.4g}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.3g} {}</text><text "
      "x=\"4\" "
      "y=\"10\">{}</text></svg></figure>\n",
      report::EscapeHtml(names), report::EscapeHtml(y.name), report::EscapeHtml(x.name), kWidth + 80, kHeight + 40,
      kHeight, kWidth, kHeight, kHeight, marks, y.most, kWidth, kHeight + 16, x.most, report::EscapeHtml(x.name),
      report::EscapeHtml(y.name));
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

std::string BarChart(const std::vector<ChartBar>& bars, const std::string& names, const std::string& x,
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
  std::string names;
  for (const ChartLine& line : lines) {
    names += (names.empty() ? "" : ", ") + line.name;
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
