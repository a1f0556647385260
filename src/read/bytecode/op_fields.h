// The fields of an op's properties, in the order in which bytecode (version 5 and later) holds them.
#pragma once

#include <optional>
#include <string_view>

namespace hespas::read::bytecode {

// Names apart by blanks; `?` marks a field that may be absent and so carries a flag. Empty for ops without fields,
// nothing for ops that are not known.
std::optional<std::string_view> FieldsOf(std::string_view op);

}  // namespace hespas::read::bytecode
