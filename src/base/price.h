// Money: the price of one device for an hour, and what the time of devices costs at it.
//
// - The one place where prices are read and device time is turned into money: `run`, sweeps and long runs use it.
// - Amounts are sums of one currency; nothing converts between currencies.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kBadPrice{
    "E0810",
    "A price is that of one device for an hour: a number from 0 on, and a currency's three letters unless it is USD, "
    "as 2.5 or \"2.5 EUR\".",
    Outcome::kUsage};

struct Price {
  double per_hour = 0;  // of one device
  std::string currency = "USD";
};

// "2.5", "2.5 EUR".
Result<Price> ParsePrice(std::string_view text);

// What so many seconds of one device cost: a step of 8 devices counts 8 times its time.
double CostOf(const Price& price, double device_seconds);

}  // namespace hespas
