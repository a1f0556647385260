// Entries of input_output_alias, buffer_donor and output_to_operand_aliasing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "read/hlo/text/shape.h"

namespace hespas::read::hlo {

struct AliasEntry {
  std::vector<int64_t> output;  // place in the result's tuples; empty: the whole
  int64_t input = 0;            // parameter or operand
  std::vector<int64_t> index;   // place in its tuples
};

// `{ {0}: (1, {}, may-alias), ... }`; nothing where the text is no such list.
std::optional<std::vector<AliasEntry>> ParseAliases(std::string_view text);
// `{ (1, {}), ... }`.
std::optional<std::vector<AliasEntry>> ParseDonors(std::string_view text);

// The shape at a place within tuples; nothing where there is none.
std::optional<ShapeId> ShapeAt(const ShapeTable& shapes, ShapeId shape, const std::vector<int64_t>& place);

}  // namespace hespas::read::hlo
