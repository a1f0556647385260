#include "report/page/page.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "report/page/assets.h"
#include "report/page/html_text.h"
#include "report/text/run_report.h"

namespace hespas::report {
namespace {

// Nothing in a script element may look like its end.
std::string InScript(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string ReportPage(const PageInput& input) {
  const std::string title =
      fmt::format("{} on {} x {}", input.result.program.path, input.result.npus, input.result.device);
  const std::pair<std::string_view, std::string> parts[] = {{"@TITLE@", EscapeHtml(title)},
                                                            {"@STYLE@", std::string(assets::PageCss())},
                                                            {"@SUMMARY@", EscapeHtml(Summary(input.result))},
                                                            {"@DATA@", InScript(PageData(input))},
                                                            {"@ECHARTS@", std::string(assets::Echarts())},
                                                            {"@PROGRAM@", std::string(assets::PageJs())}};
  return FillTemplate(assets::PageHtml(), parts);
}

}  // namespace hespas::report
