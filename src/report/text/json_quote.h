// Texts of JSON that is written piece by piece.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text/json.h"

namespace hespas::report {

// `text` as a string of JSON; bytes that are no UTF-8 are replaced.
inline std::string QuotedJson(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; });
  if (plain) return std::string(1, '"').append(text).append(1, '"');
  return JsonText(nlohmann::json(text));
}

}  // namespace hespas::report
