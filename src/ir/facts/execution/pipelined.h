// Marks ops of a loop's body that run beside the iterations around theirs, out of the order of the stream.
#pragma once

#include <string_view>

namespace hespas::ir {

inline constexpr std::string_view kPipelined = "hespas.pipelined";

}  // namespace hespas::ir
