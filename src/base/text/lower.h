// A text in lower case; letters of ASCII alone change.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace hespas {

inline std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace hespas
