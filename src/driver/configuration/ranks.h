// Ranges of NPUs as options write them: "4-7", or "4".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadPlacement{
    "E0943",
    "--placement names the NPUs of each program, in order, as FIRST-LAST or one number; together they are all NPUs "
    "from "
    "0 on, none twice. --rank-devices reads FIRST-LAST=DEVICE in the same way.",
    Outcome::kUsage};

Error BadPlacement(std::string message);

Result<std::vector<uint32_t>> ParseRanks(const std::string& text);

}  // namespace hespas::driver
