// The one template of all pages: heading, theme, printing, and tables that sort, search and copy (data/report).
#pragma once

#include <string>

namespace hespas::report {

struct PageParts {
  std::string title;    // of the window; plain text, as the next two
  std::string heading;  // empty: a script writes it
  std::string subtitle;
  std::string body;     // HTML
  std::string scripts;  // elements behind the page
  std::string style;    // beside the shared one
};

std::string PageOf(const PageParts& parts);

}  // namespace hespas::report
