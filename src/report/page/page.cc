#include "report/page/page.h"

#include <fmt/format.h>

#include <string_view>

#include "report/page/assets.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"
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
  const std::string body = fmt::format(
      "  <noscript><p class=\"notice\">Charts and tables need JavaScript. The summary:</p><pre>{}</pre></noscript>\n"
      "  <div id=\"problem\" role=\"alert\"></div>",
      EscapeHtml(Summary(input.result)));
  const auto script = [](std::string_view code) { return fmt::format("<script>\n{}\n</script>\n", code); };
  const std::string scripts =
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", InScript(PageData(input))) +
      script(assets::Echarts()) + script(assets::LiveJs()) + script(assets::LiveSectionJs()) +
      script(assets::KernelJs()) + script(assets::GraphJs()) + script(assets::GraphSectionJs()) +
      script(assets::PageJs());
  return PageOf(
      {.title = fmt::format("{} on {} x {}", input.result.program.path, input.result.npus, input.result.device),
       .heading = {},
       .subtitle = {},
       .body = body,
       .scripts = scripts,
       .style = {}});
}

}  // namespace hespas::report
