#include "base/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/unit_text.h"

namespace hespas {
namespace {

constexpr double kHour = 3600;       // s
constexpr size_t kCurrencyCode = 3;  // letters (ISO 4217)

bool IsCurrency(std::string_view code) {
  return code.size() == kCurrencyCode && std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Result<Price> ParsePrice(std::string_view text) {
  const size_t blank = text.find(' ');
  const std::string_view code = blank == std::string_view::npos ? "USD" : text.substr(blank + 1);
  const Result<double> amount = ParseQuantity(text.substr(0, blank), Unit::kNumber);
  if (!amount || !std::isfinite(*amount) || *amount < 0 || !IsCurrency(code))
    return MakeError(kBadPrice, fmt::format("`{}` is no price of a device and hour", text), {},
                     "a number such as 2.5, or an amount and a currency such as \"2.5 EUR\"");
  return Price{.per_hour = *amount, .currency = std::string(code)};
}

double CostOf(const Price& price, double device_seconds) { return price.per_hour * device_seconds / kHour; }

}  // namespace hespas
