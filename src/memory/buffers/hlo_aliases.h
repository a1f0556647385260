// HLO's alias tables: "{ {0}: (3, {}, may-alias), {1}: (4, {}) }" pairs result 0 with operand 3, result 1 with 4.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hespas::memory {

// Pairs of result and operand; only the outermost index of a result tuple counts. Stops where the text makes no sense.
std::vector<std::pair<int64_t, int64_t>> HloAliases(std::string_view text);

}  // namespace hespas::memory
