#include "driver/configuration/ranks.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace hespas::driver {

Error BadPlacement(std::string message) {
  return MakeError(kBadPlacement, std::move(message), {},
                   "for example --placement 0-3,4-7 or --rank-devices 0-1=H100_80GB");
}

Result<std::vector<uint32_t>> ParseRanks(const std::string& text) {
  constexpr uint32_t kMost = 1u << 20;
  const auto number = [](std::string_view digits) -> std::optional<uint32_t> {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty() ? std::optional(value)
                                                                                           : std::nullopt;
  };
  const size_t dash = text.find('-');
  const auto first = number(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *last < *first || *last >= kMost) {
    return BadPlacement(fmt::format("`{}` is no range of NPUs", text));
  }
  std::vector<uint32_t> ranks;
  for (uint32_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  return ranks;
}

}  // namespace hespas::driver
