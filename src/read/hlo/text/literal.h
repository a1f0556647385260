// The literals of HLO constants as MLIR element attributes.
#pragma once

#include <string>
#include <string_view>

#include "ir/type_table.h"

namespace hespas::read::hlo {

// `{ {1, 2}, {3, 4} }` of s32[2,2] becomes `dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>`; an elided literal, `{...}`,
// becomes `dense_resource<__elided__> : ...`: its values are unknown, its shape is in `type`.
// `problem` says what is wrong with it, where something is.
std::string LiteralText(std::string_view literal, const ir::TypeTable& types, ir::TypeId type, std::string& problem);

}  // namespace hespas::read::hlo
