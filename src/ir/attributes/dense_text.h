// Elements of dense attributes in MLIR's spelling.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/attributes/attribute.h"
#include "ir/type.h"

namespace hespas::ir {

// Appends one element ("1", "1.5", "true", "0x7F800000", "(1.0,2.0)") as MLIR prints it; false where it cannot be told.
bool AppendElement(std::string& out, const Element& element, std::string_view text);

// Appends what stands between `dense<` and `>`: one element for a splat, nested lists up to 100 elements, else
// hexadecimal digits of the bytes. False, with `out` unchanged, for elements without a known layout.
bool AppendDenseData(std::string& out, const DenseInfo& info, const Element& element, std::span<const int64_t> dims);

}  // namespace hespas::ir
