// Marks collectives that computation runs beside, where their kind is one that a TPU's program waits for.
#pragma once

#include <string_view>

namespace hespas::ir {

inline constexpr std::string_view kAsynchronous = "hespas.asynchronous";

}  // namespace hespas::ir
