// Text as the content of an HTML element (attributes need their quotes escaped, too), tables and pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "report/text/table.h"

namespace hespas::report {

std::string EscapeHtml(std::string_view text);
// Data that scripts of the page read, as an element with this id.
std::string DataScript(std::string_view id, std::string_view json);
// A <table>; right-aligned cells have the class `number`.
std::string ToHtml(const Table& table);

// A template with its marks replaced, each at its next place, so that nothing is looked for in what was put in.
std::string FillTemplate(std::string_view page, std::span<const std::pair<std::string_view, std::string>> parts);

}  // namespace hespas::report
