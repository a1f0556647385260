// Text as the content of an HTML element (attributes need their quotes escaped, too).
#pragma once

#include <string>
#include <string_view>

namespace hespas::report {

std::string EscapeHtml(std::string_view text);

}  // namespace hespas::report
