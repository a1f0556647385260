// Attributes of VHLO operations in the shape that StableHLO gives them: `channel_id` as `channel_handle`, the parts of
// dimension numbers as one attribute, defaults omitted.
#pragma once

#include <string_view>
#include <vector>

#include "read/bytecode/decoder.h"

namespace hespas::read::bytecode {

// `op` is the full name ("vhlo.all_gather_v2"); ops of other dialects are left alone. New texts live in `arena`.
void ConvertVhloAttributes(std::string_view op, std::vector<NamedText>& attributes, TextArena& arena);

}  // namespace hespas::read::bytecode
