// Computations that run before others that could: copies and casts of a loop's collectives that belong to another
// iteration (ir/facts/execution/pipelined.h).
#pragma once

#include <cstdint>

namespace hespas::trace {

inline constexpr int32_t kRunsFirst = -1;  // `tag` of such a node

}  // namespace hespas::trace
