// What dialect attributes of struct form may hold: `#stablehlo.dot<lhs_batching_dimensions = [0], ...>`.
#pragma once

#include <string_view>

#include "read/stablehlo/cursor.h"

namespace hespas::read {

// `name` is "stablehlo.dot", `body` its text from `<` to `>`; unknown names pass.
bool CheckDialectAttribute(Cursor& cursor, std::string_view name, std::string_view body);

}  // namespace hespas::read
