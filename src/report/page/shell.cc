#include "report/page/shell.h"

#include <string_view>
#include <utility>

#include "report/page/assets.h"
#include "report/page/html_text.h"

namespace hespas::report {

std::string PageOf(const PageParts& parts) {
  const std::pair<std::string_view, std::string> marks[] = {{"@TITLE@", EscapeHtml(parts.title)},
                                                            {"@STYLE@", std::string(assets::PageCss()) + parts.style},
                                                            {"@HEADING@", EscapeHtml(parts.heading)},
                                                            {"@SUBTITLE@", EscapeHtml(parts.subtitle)},
                                                            {"@BODY@", parts.body},
                                                            {"@SHELL@", std::string(assets::ShellJs())},
                                                            {"@SCRIPTS@", parts.scripts}};
  return FillTemplate(assets::PageHtml(), marks);
}

}  // namespace hespas::report
