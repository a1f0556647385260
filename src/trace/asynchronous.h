// Collectives that computation runs beside, whatever their kind (ir/facts/execution/asynchronous.h).
#pragma once

#include <cstdint>

namespace hespas::trace {

inline constexpr int32_t kAsynchronous = 1;  // `tag` of such a node

}  // namespace hespas::trace
