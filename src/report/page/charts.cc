#include "report/page/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/page/html_text.h"

namespace hespas::report {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 340;
constexpr double kLeft = 74;
constexpr double kRight = 16;
constexpr double kTop = 12;
constexpr double kBottom = 46;
constexpr const char* kColours[] = {"#2f6fb7", "#c8602b", "#3c8d5a", "#8a5bb0", "#b0435f", "#5a7d8c"};

// One axis of a chart: its ends and where values lie between them.
class Scale {
 public:
  Scale(bool logarithmic, double from, double to) : log_(logarithmic), from_(from), to_(to) {}

  void Add(double value) {
    if (!std::isfinite(value) || (log_ && value <= 0)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void Close() {
    if (low_ > high_) low_ = high_ = 1;
    if (low_ == high_) low_ *= 0.9, high_ *= 1.1;
    const double pad = 0.04 * (Of(high_) - Of(low_));
    begin_ = Of(low_) - pad;
    end_ = Of(high_) + pad;
  }
  double At(double value) const { return from_ + (Of(value) - begin_) / (end_ - begin_) * (to_ - from_); }

  // "log 0.5 2 74 544": values' (logarithms') ends and where they are drawn.
  std::string text() const {
    return fmt::format("{} {:.9g} {:.9g} {} {}", log_ ? "log" : "linear", begin_, end_, from_, to_);
  }

  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    if (log_) {
      const double steps = high_ / low_ > 1000 ? 1 : 3;
      for (double decade = std::pow(10, std::floor(std::log10(low_))); decade <= high_ * 1.01; decade *= 10) {
        for (const double factor : {1.0, 2.0, 5.0}) {
          if (factor > 1 && steps == 1) continue;
          if (decade * factor >= low_ * 0.99 && decade * factor <= high_ * 1.01) ticks.push_back(decade * factor);
        }
      }
      if (ticks.size() >= 2) return ticks;
      ticks.clear();
    }
    const double rough = (high_ - low_) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = rough / power > 5 ? 10 * power : rough / power > 2 ? 5 * power : 2 * power;
    for (double tick = std::ceil(low_ / step) * step; tick <= high_ * (1 + 1e-9); tick += step) ticks.push_back(tick);
    return ticks;
  }

 private:
  double Of(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double from_;
  double to_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -low_;
  double begin_ = 0;
  double end_ = 1;
};

std::string Text(double x, double y, std::string_view anchor, const std::string& text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     EscapeHtml(text));
}

std::string TickText(double tick, const std::function<std::string(double)>& text) {
  return text ? text(tick) : fmt::format("{:.4g}", tick);
}

std::string Frame(const Chart& chart, const Scale& x, const Scale& y) {
  std::string out;
  for (const double tick : x.Ticks()) {
    const double at = x.At(tick);
    out += fmt::format("<path class=\"rule\" d=\"M{0:.1f} {1}V{2}\"/>", at, kTop, kHeight - kBottom);
    out += Text(at, kHeight - kBottom + 16, "middle", TickText(tick, chart.x_text));
  }
  for (const double tick : y.Ticks()) {
    const double at = y.At(tick);
    out += fmt::format("<path class=\"rule\" d=\"M{0} {1:.1f}H{2}\"/>", kLeft, at, kWidth - kRight);
    out += Text(kLeft - 6, at + 4, "end", TickText(tick, chart.y_text));
  }
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", chart.x_name);
  return out + Text(14, (kTop + kHeight - kBottom) / 2, "middle", chart.y_name,
                    fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", (kTop + kHeight - kBottom) / 2));
}

std::string Draw(const Series& series, const char* colour, const Scale& x, const Scale& y) {
  std::string out;
  if (series.line) {
    std::string path;
    for (const Mark& mark : series.marks)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(mark.x), y.At(mark.y));
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
  }
  for (const Mark& mark : series.marks) {
    const std::string circle =
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"{}><title>{}</title></circle>",
                    x.At(mark.x), y.At(mark.y), series.line ? 4.5 : 3, colour,
                    series.line ? "" : " fill-opacity=\"0.45\"", EscapeHtml(mark.title));
    out += mark.link.empty() ? circle + "\n"
                             : fmt::format("<a href=\"{}\" aria-label=\"{}\">{}</a>\n", EscapeAttribute(mark.link),
                                           EscapeAttribute(mark.title), circle);
  }
  return out;
}

std::string DataOf(const char* axis, const std::string& name, const Scale& scale) {
  if (name.empty()) return {};
  return fmt::format(" data-{0}=\"{1}\" data-{0}-scale=\"{2}\"", axis, EscapeAttribute(name), scale.text());
}

}  // namespace

std::string EscapeAttribute(std::string_view text) {
  std::string out;
  for (const char c : EscapeHtml(text)) out += c == '"' ? std::string("&quot;") : std::string(1, c);
  return out;
}

std::string ScatterSvg(const Chart& chart) {
  Scale x(chart.log_x, kLeft, kWidth - kRight);
  Scale y(chart.log_y, kHeight - kBottom, kTop);
  for (const Series& series : chart.series) {
    for (const Mark& mark : series.marks) {
      x.Add(mark.x);
      y.Add(mark.y);
    }
  }
  x.Close();
  y.Close();
  std::string out =
      fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"group\" aria-label=\"{}\"{}{}>\n", kWidth, kHeight,
                  EscapeAttribute(chart.label), DataOf("x", chart.x_data, x), DataOf("y", chart.y_data, y));
  out += Frame(chart, x, y);
  for (size_t i = 0; i < chart.series.size(); ++i)
    out += Draw(chart.series[i], kColours[i % std::size(kColours)], x, y);
  out += "</svg>\n";
  if (chart.series.size() < 2) return out;
  out += "<p class=\"legend\">";
  for (size_t i = 0; i < chart.series.size(); ++i)
    out += fmt::format("<span><i class=\"swatch\" style=\"background:{}\"></i>{}</span> ",
                       kColours[i % std::size(kColours)], EscapeHtml(chart.series[i].name));
  return out + "</p>\n";
}

std::string HeatTable(const HeatMap& map) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& row : map.cells) {
    for (const Mark& cell : row) {
      if (!std::isfinite(cell.y) || cell.y <= 0) continue;
      low = std::min(low, std::log(cell.y));
      high = std::max(high, std::log(cell.y));
    }
  }
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table data-plain "
      "class=\"heat\"><caption>{} "
      "(rows) and {} (columns)</caption>\n<tr><td></td>",
      EscapeAttribute(map.label), EscapeHtml(map.row_axis), EscapeHtml(map.column_axis));
  for (const std::string& column : map.columns) out += "<th scope=\"col\">" + EscapeHtml(column) + "</th>";
  out += "</tr>\n";
  for (size_t r = 0; r < map.rows.size(); ++r) {
    out += "<tr><th scope=\"row\">" + EscapeHtml(map.rows[r]) + "</th>";
    for (size_t c = 0; c < map.columns.size(); ++c) {
      const Mark& cell = map.cells[r][c];
      if (!std::isfinite(cell.y)) {
        out += "<td>-</td>";
        continue;
      }
      const double share = high > low ? (std::log(cell.y) - low) / (high - low) : 0;
      out += fmt::format(
          "<td style=\"background:color-mix(in srgb, #c8602b {:.0f}%, transparent)\"><a href=\"{}\">{}</a></td>",
          10 + 60 * share, EscapeAttribute(cell.link), EscapeHtml(map.texts[r][c]));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace hespas::report
