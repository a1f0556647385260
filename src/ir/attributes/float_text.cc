#include "ir/attributes/float_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace hespas::ir {
namespace {

using Special = FloatLayout::Special;

struct LayoutRow {
  ElementKind kind;
  FloatLayout layout;
};

constexpr LayoutRow kLayouts[] = {
    {ElementKind::kF64, {64, 11, 52, 1023, Special::kIeee}},
    {ElementKind::kF32, {32, 8, 23, 127, Special::kIeee}},
    {ElementKind::kTF32, {19, 8, 10, 127, Special::kIeee}},
    {ElementKind::kBF16, {16, 8, 7, 127, Special::kIeee}},
    {ElementKind::kF16, {16, 5, 10, 15, Special::kIeee}},
    {ElementKind::kF8E5M2, {8, 5, 2, 15, Special::kIeee}},
    {ElementKind::kF8E4M3, {8, 4, 3, 7, Special::kIeee}},
    {ElementKind::kF8E3M4, {8, 3, 4, 3, Special::kIeee}},
    {ElementKind::kF8E4M3FN, {8, 4, 3, 7, Special::kNanAllOnes}},
    {ElementKind::kF8E5M2FNUZ, {8, 5, 2, 16, Special::kNanMinusZero}},
    {ElementKind::kF8E4M3FNUZ, {8, 4, 3, 8, Special::kNanMinusZero}},
    {ElementKind::kF8E4M3B11FNUZ, {8, 4, 3, 11, Special::kNanMinusZero}},
    {ElementKind::kF8E8M0FNU, {8, 8, 0, 127, Special::kExponentOnly}},
    {ElementKind::kF4E2M1FN, {4, 2, 1, 1, Special::kFinite}},
    {ElementKind::kF6E2M3FN, {6, 2, 3, 1, Special::kFinite}},
    {ElementKind::kF6E3M2FN, {6, 3, 2, 3, Special::kFinite}},
};

uint64_t Ones(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t NanPattern(const FloatLayout& f) {
  switch (f.special) {
    case Special::kIeee:
      return Ones(f.exponent_bits) << f.mantissa_bits | uint64_t{1} << (f.mantissa_bits - 1);
    case Special::kNanAllOnes:
      return Ones(f.bits - 1);
    case Special::kNanMinusZero:
      return uint64_t{1} << (f.bits - 1);
    case Special::kExponentOnly:
      return Ones(f.bits);
    case Special::kFinite:
      break;
  }
  return 0;
}

bool IsNan(const FloatLayout& f, uint64_t bits) {
  const uint64_t magnitude = bits & Ones(f.bits - 1);
  switch (f.special) {
    case Special::kIeee:
      return magnitude > Ones(f.exponent_bits) << f.mantissa_bits;
    case Special::kNanAllOnes:
      return magnitude == Ones(f.bits - 1);
    case Special::kNanMinusZero:
    case Special::kExponentOnly:
      return bits == NanPattern(f);
    case Special::kFinite:
      break;
  }
  return false;
}

bool IsInfinite(const FloatLayout& f, uint64_t bits) {
  return f.special == Special::kIeee && (bits & Ones(f.bits - 1)) == Ones(f.exponent_bits) << f.mantissa_bits;
}

// The largest finite magnitude as a pattern.
uint64_t LargestPattern(const FloatLayout& f) {
  switch (f.special) {
    case Special::kIeee:
      return (Ones(f.exponent_bits) << f.mantissa_bits) - 1;
    case Special::kNanAllOnes:
    case Special::kExponentOnly:
      return Ones(f.special == Special::kExponentOnly ? f.bits : f.bits - 1) - 1;
    default:
      return Ones(f.bits - 1);
  }
}

uint64_t OverflowPattern(const FloatLayout& f) {
  if (f.special == Special::kIeee) return Ones(f.exponent_bits) << f.mantissa_bits;
  return f.special == Special::kFinite ? LargestPattern(f) : NanPattern(f);
}

// Digits of an exact binary value as llvm::APFloat::toString finds them: superfluous ones are cut off before the last
// step rounds half up, so that the result is sometimes a truncation.
struct Decimal {
  std::string digits;  // most significant first, at least one
  int exponent = 0;    // of the first digit
};

// Unsigned integers of any size, as much as exact decimals need.
class BigInteger {
 public:
  explicit BigInteger(uint64_t value) {
    for (; value; value >>= 32) words_.push_back(static_cast<uint32_t>(value));
  }
  void Multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t& word : words_) {
      carry += uint64_t{word} * factor;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry) words_.push_back(static_cast<uint32_t>(carry));
  }
  int Bits() const {
    return words_.empty() ? 0 : static_cast<int>(32 * words_.size()) - std::countl_zero(words_.back());
  }
  std::string Digits() && {
    std::string reversed;
    while (!words_.empty()) {
      uint64_t remainder = 0;
      for (size_t i = words_.size(); i-- > 0;) {
        remainder = remainder << 32 | words_[i];
        words_[i] = static_cast<uint32_t>(remainder / 1000000000);
        remainder %= 1000000000;
      }
      while (!words_.empty() && words_.back() == 0) words_.pop_back();
      for (int i = 0; i < 9; ++i, remainder /= 10) reversed += static_cast<char>('0' + remainder % 10);
    }
    while (reversed.size() > 1 && reversed.back() == '0') reversed.pop_back();
    return {reversed.rbegin(), reversed.rend()};
  }

 private:
  std::vector<uint32_t> words_;
};

Decimal ExactDecimal(double magnitude, int max_digits) {
  int exponent = 0;
  auto significand = static_cast<uint64_t>(std::ldexp(std::frexp(magnitude, &exponent), 53));
  exponent -= 53;
  const int zeros = std::countr_zero(significand);
  significand >>= zeros;
  exponent += zeros;
  // significand * 2^-n = significand * 5^n * 10^-n
  BigInteger integer(significand);
  for (int i = 0; i < exponent; ++i) integer.Multiply(2);
  for (int i = 0; i < -exponent; ++i) integer.Multiply(5);
  int last = std::min(exponent, 0);  // power of ten of the last digit
  const int bits = integer.Bits();
  const int needed = (max_digits * 196 + 58) / 59;
  std::string digits = std::move(integer).Digits();
  const int removable = bits > needed ? (bits - needed) * 59 / 196 : 0;
  digits.resize(digits.size() - static_cast<size_t>(removable));
  last += removable;
  bool up = false;
  if (digits.size() > static_cast<size_t>(max_digits)) {
    last += static_cast<int>(digits.size()) - max_digits;
    up = digits[static_cast<size_t>(max_digits)] >= '5';
    digits.resize(static_cast<size_t>(max_digits));
  }
  // Trailing zeros, or nines that a carry runs through, are dropped.
  while (digits.size() > (up ? 0 : 1) && digits.back() == (up ? '9' : '0')) {
    digits.pop_back();
    ++last;
  }
  if (up && digits.empty()) digits = "0";
  if (up) ++digits.back();
  return {digits, last + static_cast<int>(digits.size()) - 1};
}

// Six significant digits in the form 1.234560e+00.
std::string ShortForm(const Decimal& d) {
  std::string out = d.digits.substr(0, 1) + "." + d.digits.substr(1);
  out.append(7 - d.digits.size(), '0');
  return fmt::format("{}e{}{:02}", out, d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
}

// Enough digits to read the value back: 123.456, 0.00123, 1.5E-10; MLIR writes what has no point as bits.
std::string LongForm(const Decimal& d, int max_digits) {
  const int count = static_cast<int>(d.digits.size());
  const int last = d.exponent - (count - 1);  // exponent of the last digit
  const bool scientific = last >= 0 ? last > 3 || count + last > max_digits : d.exponent < 0 && -d.exponent > 3;
  if (scientific) {
    const std::string rest = count == 1 ? "0" : d.digits.substr(1);
    return fmt::format("{}.{}E{}{}", d.digits[0], rest, d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
  }
  if (last >= 0) return d.digits + std::string(static_cast<size_t>(last), '0');
  const int whole = d.exponent + 1;
  if (whole > 0)
    return d.digits.substr(0, static_cast<size_t>(whole)) + "." + d.digits.substr(static_cast<size_t>(whole));
  return "0." + std::string(static_cast<size_t>(-whole), '0') + d.digits;
}

}  // namespace

std::optional<FloatLayout> LayoutOf(ElementKind kind) {
  for (const LayoutRow& row : kLayouts) {
    if (row.kind == kind) return row.layout;
  }
  return std::nullopt;
}

double DecodeFloat(const FloatLayout& f, uint64_t bits) {
  if (f.bits == 64) return std::bit_cast<double>(bits);
  if (IsNan(f, bits)) return std::numeric_limits<double>::quiet_NaN();
  const bool exponent_only = f.special == Special::kExponentOnly;
  const double sign = !exponent_only && (bits >> (f.bits - 1) & 1) ? -1.0 : 1.0;
  if (IsInfinite(f, bits)) return sign * std::numeric_limits<double>::infinity();
  if (exponent_only) return std::ldexp(1.0, static_cast<int>(bits) - f.bias);
  const uint64_t exponent = bits >> f.mantissa_bits & Ones(f.exponent_bits);
  const double mantissa = static_cast<double>(bits & Ones(f.mantissa_bits));
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign *
         std::ldexp(mantissa + std::ldexp(1.0, f.mantissa_bits), static_cast<int>(exponent) - f.bias - f.mantissa_bits);
}

uint64_t EncodeFloat(const FloatLayout& f, double value) {
  if (f.bits == 64) return std::bit_cast<uint64_t>(value);
  if (std::isnan(value)) return NanPattern(f);
  const bool exponent_only = f.special == Special::kExponentOnly;
  const uint64_t sign = !exponent_only && std::signbit(value) ? uint64_t{1} << (f.bits - 1) : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return OverflowPattern(f) | (f.special == Special::kNanMinusZero ? 0 : sign);
  if (magnitude == 0) return f.special == Special::kNanMinusZero ? 0 : sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  --exponent;  // magnitude = 1.m * 2^exponent
  if (exponent_only) {
    const int biased = exponent + f.bias + (std::ldexp(magnitude, -exponent) >= 1.5 ? 1 : 0);
    return biased < 0 ? 0 : biased >= 255 ? NanPattern(f) : static_cast<uint64_t>(biased);
  }
  const int quantum = std::max(exponent, 1 - f.bias) - f.mantissa_bits;  // weight of the last mantissa bit
  const double scaled = std::nearbyint(std::ldexp(magnitude, -quantum));
  // Adding carries into the exponent as it should, also from the subnormal range.
  const uint64_t base = exponent < 1 - f.bias ? 0 : static_cast<uint64_t>(exponent + f.bias - 1) << f.mantissa_bits;
  if (exponent + f.bias > static_cast<int>(Ones(f.exponent_bits))) {
    return OverflowPattern(f) | (f.special == Special::kNanMinusZero ? 0 : sign);
  }
  const uint64_t pattern = base + static_cast<uint64_t>(scaled);
  if (pattern > LargestPattern(f)) return OverflowPattern(f) | (f.special == Special::kNanMinusZero ? 0 : sign);
  if (pattern == 0 && f.special == Special::kNanMinusZero) return 0;
  return pattern | sign;
}

void AppendFloat(std::string& out, const FloatLayout& f, uint64_t bits) {
  const double value = DecodeFloat(f, bits);
  if (std::isfinite(value)) {
    const std::string_view sign = std::signbit(value) ? "-" : "";
    const double magnitude = std::fabs(value);
    if (magnitude == 0) {
      out += sign;
      out += "0.000000e+00";
      return;
    }
    const std::string text = ShortForm(ExactDecimal(magnitude, 6));
    if (EncodeFloat(f, std::strtod(text.c_str(), nullptr)) == EncodeFloat(f, magnitude)) {
      out += sign;
      out += text;
      return;
    }
    const int digits = 2 + (f.mantissa_bits + 1) * 59 / 196;
    const std::string long_text = LongForm(ExactDecimal(magnitude, digits), digits);
    if (long_text.find('.') != std::string::npos) {
      out += sign;
      out += long_text;
      return;
    }
  }
  out += fmt::format("0x{:X}", bits);
}

}  // namespace hespas::ir
