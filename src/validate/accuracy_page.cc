#include "validate/accuracy_page.h"

#include <fmt/format.h>

#include <string_view>

#include "base/system/file.h"
#include "report/page/html_text.h"

namespace hespas::validate {
namespace {

constexpr std::string_view kBegin = "<!-- accuracy -->\n";
constexpr std::string_view kEnd = "<!-- /accuracy -->";

}  // namespace

std::string AccuracyPage(const report::Table& rows, const report::Table& bounds) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Accuracy of Hespas</title>\n"
      "<style>body{{font:14px sans-serif;margin:2em}}table{{border-collapse:collapse;margin-bottom:2em}}"
      "th,td{{padding:2px 8px;border-bottom:1px solid "
      "#ccc;text-align:left}}td.number{{text-align:right}}</style></head>\n"
      "<body><h1>Accuracy of Hespas</h1>\n<h2>Bounds</h2>\n{}<h2>All sets</h2>\n{}</body></html>\n",
      report::ToHtml(bounds), report::ToHtml(rows));
}

Result<std::string> WithAccuracy(const std::string& file, const report::Table& table) {
  const auto text = ReadInput(file);
  if (!text) return text.error();
  const size_t begin = text->find(kBegin);
  const size_t end = text->find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return MakeError(kNoAccuracyMarks, fmt::format("`{}` has no place for the accuracy table", file));
  }
  return text->substr(0, begin + kBegin.size()) + report::ToMarkdown(table) + text->substr(end);
}

}  // namespace hespas::validate
