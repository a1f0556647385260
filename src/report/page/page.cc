#include "report/page/page.h"

#include <fmt/format.h>

#include <string_view>

#include "report/page/assets.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"
#include "report/text/run_report.h"

namespace hespas::report {
namespace {

std::string Script(std::string_view code) { return fmt::format("<script>\n{}\n</script>\n", code); }

}  // namespace

std::string ReportPage(const PageInput& input) {
  const std::string body = fmt::format(
      "  <noscript><p class=\"notice\">Charts and tables need JavaScript. The summary:</p><pre>{}</pre></noscript>\n"
      "  <div id=\"problem\" role=\"alert\"></div>",
      EscapeHtml(Summary(input.result)));
  const std::string scripts = DataScript("data", PageData(input)) + Script(assets::Echarts()) +
                              Script(assets::LiveJs()) + Script(assets::LiveSectionJs()) + Script(assets::KernelJs()) +
                              Script(assets::GraphJs()) + Script(assets::GraphSectionJs()) + Script(assets::PageJs());
  return PageOf(
      {.title = fmt::format("{} on {} x {}", input.result.program.path, input.result.npus, input.result.device),
       .heading = {},
       .subtitle = {},
       .body = body,
       .scripts = scripts,
       .style = {}});
}

}  // namespace hespas::report
