// Floating-point values of every element type in MLIR's spelling: "1.000000e+00", "0x7FC00000" for what is not finite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace hespas::ir {

// How an element type lays out a number of at most 64 bits.
struct FloatLayout {
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  enum class Special : uint8_t {
    kIeee,          // infinities and NaNs at the largest exponent
    kFinite,        // every pattern is a number
    kNanAllOnes,    // ...FN: the largest pattern is NaN
    kNanMinusZero,  // ...FNUZ: the pattern of -0 is NaN
    kExponentOnly,  // f8E8M0FNU
  } special;
};

// The layout of `kind`; nothing for types over 64 bits and for those that are no floats.
std::optional<FloatLayout> LayoutOf(ElementKind kind);

// The value of a bit pattern, and the nearest pattern of a value (ties to even; too large: infinity, NaN or largest).
double DecodeFloat(const FloatLayout& layout, uint64_t bits);
uint64_t EncodeFloat(const FloatLayout& layout, double value);

// Appends MLIR's spelling of a bit pattern.
void AppendFloat(std::string& out, const FloatLayout& layout, uint64_t bits);

}  // namespace hespas::ir
