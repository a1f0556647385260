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

}  // namespace

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
    const size_t stride = std::max<size_t>(points.size() / kMostPoints, 1);
    std::string path;
    for (size_t p = 0; p < points.size(); p += stride) {
      path += fmt::format("{:.1f},{:.1f} ", points[p].first / most_x * kWidth,
                          kHeight - points[p].second / most_y * kHeight);
    }
    paths += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" points=\"{}\"/>",
                         kColours[i % std::size(kColours)], path);
  }
  return fmt::format(
      "<figure><figcaption><h3>{}</h3></figcaption><svg role=\"img\" aria-label=\"{} over {}\" viewBox=\"-60 -10 {} "
      "{}\" "
      "width=\"100%\" fill=\"currentColor\" font-size=\"11\"><line x1=\"0\" y1=\"{}\" x2=\"{}\" y2=\"{}\" "
      "stroke=\"currentColor\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"{}\" stroke=\"currentColor\"/>{}<text x=\"-4\" "
      "y=\"8\" text-anchor=\"end\">{:.3g}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.3g} {}</text><text "
      "x=\"4\" "
      "y=\"10\">{}</text></svg></figure>\n",
      report::EscapeHtml(names), report::EscapeHtml(y), report::EscapeHtml(x), kWidth + 80, kHeight + 40, kHeight,
      kWidth, kHeight, kHeight, paths, most_y, kWidth, kHeight + 16, most_x, report::EscapeHtml(x),
      report::EscapeHtml(y));
}

}  // namespace hespas::driver
