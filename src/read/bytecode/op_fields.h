// The fields of an op's properties, in the order in which bytecode (version 5 and later) holds them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hespas::read::bytecode {

struct OpFields {
  std::string_view op;
  std::string_view fields;  // names apart by blanks; `?` marks one that may be absent and so carries a flag
};

// What writers of different ages knew of `op`, most fields first; empty for ops that are not known here.
std::span<const OpFields> FieldsOf(std::string_view op);

// The row for a writer that wrote `count` fields.
std::string_view FieldsOf(std::span<const OpFields> rows, size_t count);

}  // namespace hespas::read::bytecode
