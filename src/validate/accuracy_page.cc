#include "validate/accuracy_page.h"

#include <fmt/format.h>

#include <string_view>

#include "base/system/file.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"

namespace hespas::validate {
namespace {

constexpr std::string_view kBegin = "<!-- accuracy -->\n";
constexpr std::string_view kEnd = "<!-- /accuracy -->";

}  // namespace

std::string AccuracyPage(const report::Table& rows, const report::Table& bounds) {
  const auto section = [](std::string_view name, const report::Table& table) {
    return fmt::format(
        "<section><h2>{0}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: "
        "{0}\">{1}</div>"
        "</section>\n",
        name, report::ToHtml(table));
  };
  return report::PageOf({.title = "Accuracy of Hespas",
                         .heading = "Accuracy of Hespas",
                         .subtitle = "Predictions against measurements, by set.",
                         .body = section("Bounds", bounds) + section("All sets", rows),
                         .scripts = {},
                         .style = {}});
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
