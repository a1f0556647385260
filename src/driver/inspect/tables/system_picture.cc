#include "driver/inspect/tables/system_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/inspect/tables/describe_system.h"
#include "hardware/links/link_faults.h"
#include "report/page/html_text.h"

namespace hespas::driver {
namespace {

constexpr int kWidth = 860;
constexpr int kLeft = 30;
constexpr int kRow = 120;  // height of a level
constexpr int kBox = 64;
constexpr int kGap = 26;
constexpr uint32_t kMostBoxes = 8;

std::string Text(int x, int y, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, report::EscapeHtml(text));
}

std::string Line(int x1, int y1, int x2, int y2) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", x1, y1, x2, y2);
}

int BoxAt(uint32_t i) { return kLeft + static_cast<int>(i) * (kBox + kGap); }

// A switch is a bar above its members; links of rings and meshes join them side by side.
std::string LevelRow(const hardware::System& system, size_t d, int y) {
  const hardware::NetworkDimension& dimension = system.dimensions[d];
  const uint32_t shown = std::min(dimension.npus, kMostBoxes);
  const int end = BoxAt(shown - 1) + kBox;
  std::string out = Text(kLeft, y + 14, LevelLine(system, d));
  const bool bar = dimension.kind == hardware::DimensionKind::kSwitch;
  if (bar) {
    out +=
        fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"8\"/>\n", kLeft, y + 24, end - kLeft);
  }
  const uint64_t devices = hardware::StrideOf(system, d);
  for (uint32_t i = 0; i < shown; ++i) {
    const int x = BoxAt(i);
    if (bar) out += Line(x + kBox / 2, y + 32, x + kBox / 2, y + 50);
    if (!bar && i + 1 < shown) out += Line(x + kBox, y + 65, x + kBox + kGap, y + 65);
    const bool skipped = i + 2 == shown && dimension.npus > shown;
    if (skipped) {
      out += Text(x + kBox / 2, y + 69, "...", "middle");
      continue;
    }
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"30\"/>\n", x, y + 50, kBox);
    out += Text(x + kBox / 2, y + 69, d == 0 ? "device" : fmt::format("{} dev.", devices), "middle");
  }
  if (!bar && dimension.npus > 2 && !dimension.open) {
    out += fmt::format("<path d=\"M {} {} V {} H {} V {}\"/>\n", BoxAt(0) + kBox / 2, y + 50, y + 36, end - kBox / 2,
                       y + 50);
  }
  if (d > 0) out += Line(BoxAt(0) + kBox / 2, y + 80, BoxAt(0) + kBox / 2, y + kRow);  // the first one, below
  return out;
}

}  // namespace

std::string SystemPicture(const hardware::System& system) {
  const int height = 60 + kRow * static_cast<int>(system.dimensions.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font:13px sans-serif;fill:#222}}rect{{fill:#eef3fa;stroke:#456}}.bar{{fill:#456}}"
      "line,path{{stroke:#456;fill:none}}</style>\n<rect class=\"page\" width=\"{0}\" height=\"{1}\" "
      "style=\"fill:#fff;stroke:none\"/>\n",
      kWidth, height);
  out += Text(
      kLeft, 26,
      fmt::format("{}: {} devices{}", system.name, system.npus(), system.device.empty() ? "" : " " + system.device));
  int y = 44;
  for (size_t d = system.dimensions.size(); d-- > 0; y += kRow) out += LevelRow(system, d, y);
  return out + "</svg>\n";
}

}  // namespace hespas::driver
