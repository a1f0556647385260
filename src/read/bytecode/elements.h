// The raw bytes of dense attributes as MLIR spells them: few elements in decimal, many in hexadecimal, splats once.
#pragma once

#include <string>
#include <string_view>

#include "ir/type_table.h"

namespace hespas::read::bytecode {

// `dense<...> : TYPE`; empty where the blob does not fit the type.
std::string DenseText(const ir::TypeTable& types, ir::TypeId type, std::string_view blob);
// `array<i64: 1, 2>`; empty where the blob does not fit.
std::string ArrayText(const ir::Element& element, size_t count, std::string_view blob);

// One number from its bits; `bits` holds the value in its low end.
std::string ElementNumber(const ir::Element& element, uint64_t bits);
inline constexpr int kSingleDigits = 9;
inline constexpr int kDoubleDigits = 17;
std::string FloatText(double value, int digits);

}  // namespace hespas::read::bytecode
