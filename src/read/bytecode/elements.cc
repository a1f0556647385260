#include "read/bytecode/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "ir/attributes/integer.h"

namespace hespas::read::bytecode {
namespace {

using ir::Element;
using ir::ElementKind;

// MLIR prints longer lists in hexadecimal.
constexpr int64_t kMaximumDecimal = 100;

size_t BytesOf(const Element& e) { return e.kind == ElementKind::kIndex ? 8 : (size_t{e.bits} + 7) / 8; }

uint64_t BitsAt(std::string_view blob, size_t begin, size_t size) {
  uint64_t bits = 0;
  for (size_t i = std::min<size_t>(size, 8); i-- > 0;) bits = (bits << 8) | static_cast<uint8_t>(blob[begin + i]);
  return bits;
}

std::string IntegerText(const Element& e, uint64_t bits) {
  if (e.bits == 1) return (bits & 1) != 0 ? "true" : "false";
  if (e.kind == ElementKind::kUnsigned) return fmt::format("{}", bits);
  const int width = e.kind == ElementKind::kIndex ? 64 : e.bits;
  const int shift = 64 - std::min(width, 64);
  return fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
}

// IEEE half precision and bfloat16 by their bits; other narrow formats stay bit patterns.
std::optional<double> Widened(const Element& e, uint64_t bits) {
  switch (e.kind) {
    case ElementKind::kF64:
      return std::bit_cast<double>(bits);
    case ElementKind::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case ElementKind::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    case ElementKind::kF16: {
      const int exponent = static_cast<int>((bits >> 10) & 31);
      const double fraction = static_cast<double>(bits & 1023);
      if (exponent == 31) return std::nullopt;
      const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      return (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
    default:
      return std::nullopt;
  }
}

int DigitsOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::kF64:
      return kDoubleDigits;
    case ElementKind::kBF16:
      return 4;
    case ElementKind::kF16:
      return 5;
    default:
      return kSingleDigits;
  }
}

// i1 comes bit by bit or byte by byte; all ones in one byte is a splat.
std::string Unpacked(std::string_view blob, size_t count) {
  const size_t packed = (count + 7) / 8;
  if (blob.size() == 1 && static_cast<uint8_t>(blob[0]) == 0xFF) return std::string(1, '\1');
  if (blob.size() != packed || blob.size() == count) return std::string(blob);
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((static_cast<uint8_t>(blob[i / 8]) >> (i % 8)) & 1);
  return bytes;
}

std::string Hexadecimal(std::string_view blob) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out(blob.size() * 2 + 4, '"');
  out[1] = '0';
  out[2] = 'x';
  for (size_t i = 0; i < blob.size(); ++i) {
    const auto byte = static_cast<uint8_t>(blob[i]);
    out[2 * i + 3] = kDigits[byte >> 4];
    out[2 * i + 4] = kDigits[byte & 15];
  }
  return out;
}

std::string OneElement(const Element& e, std::string_view blob, size_t begin) {
  const size_t width = BytesOf(e);
  if (!e.complex) return ElementNumber(e, BitsAt(blob, begin, width));
  return fmt::format("({}, {})", ElementNumber(e, BitsAt(blob, begin, width)),
                     ElementNumber(e, BitsAt(blob, begin + width, width)));
}

// Nested lists in row order; `dims` are all positive here.
std::string Nested(const Element& e, const std::vector<int64_t>& dims, std::string_view blob, size_t stride) {
  std::string out;
  const size_t count = blob.size() / stride;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    size_t period = 1;
    std::string open;
    for (size_t d = dims.size(); d-- > 0;) {
      period *= static_cast<size_t>(dims[d]);
      if (i % period == 0) open += '[';
    }
    out += open + OneElement(e, blob, i * stride);
    period = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      period *= static_cast<size_t>(dims[d]);
      if ((i + 1) % period == 0) out += ']';
    }
  }
  return out;
}

}  // namespace

// As MLIR prints: six decimals where they say it all, else as many digits as tell all values apart.
std::string FloatText(double value, int digits) {
  const bool is_double = digits > kSingleDigits;
  std::string text = fmt::format("{:.6e}", value);
  const bool exact = is_double ? std::strtod(text.c_str(), nullptr) == value
                               : std::strtof(text.c_str(), nullptr) == static_cast<float>(value);
  if (exact) return text;
  text = fmt::format("{:.{}g}", value, digits);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string ElementNumber(const Element& e, uint64_t bits) {
  if (IsInteger(e)) return IntegerText(e, bits);
  const auto value = Widened(e, bits);
  if (value && std::isfinite(*value)) return FloatText(*value, DigitsOf(e.kind));
  return fmt::format("0x{:0{}X}", bits, 2 * BytesOf(e));
}

std::string ArrayText(const Element& element, size_t count, std::string_view blob) {
  const size_t width = BytesOf(element);
  if (width == 0 || count != blob.size() / width || blob.size() % width != 0) return {};
  std::string out = "array<" + ir::ElementText(element);
  for (size_t i = 0; i < count; ++i) {
    out += i == 0 ? ": " : ", ";
    out += OneElement(element, blob, i * width);
  }
  out += '>';
  return out;
}

std::string DenseText(const ir::TypeTable& types, ir::TypeId id, std::string_view blob) {
  const ir::Type& type = types[id];
  Element element = type.element;
  if (element.kind == ElementKind::kQuantised) element = {.kind = ElementKind::kInteger, .bits = element.bits};
  const size_t stride = BytesOf(element) * (element.complex ? 2 : 1);
  const int64_t count = type.element_count();
  const bool is_dynamic = std::any_of(type.dims.begin(), type.dims.end(), [](int64_t d) { return d < 0; });
  if (stride == 0 || count < 0 || is_dynamic) return {};
  std::string unpacked;
  if (element.bits == 1 && !element.complex) {
    constexpr int64_t kMaximumBits = int64_t{1} << 40;
    if (count > kMaximumBits || static_cast<uint64_t>(count) > 8 * blob.size() + 8) {
      if (blob.size() != 1) return {};
      unpacked = (blob[0] & 1) != 0 ? std::string(1, '\1') : std::string(1, '\0');
    } else {
      unpacked = Unpacked(blob, static_cast<size_t>(count));
    }
    blob = unpacked;
  }
  const std::string of = types.Text(id);
  if (count == 0) return fmt::format("dense<> : {}", of);
  if (blob.size() == stride) return fmt::format("dense<{}> : {}", OneElement(element, blob, 0), of);
  if (blob.size() % stride != 0 || blob.size() / stride != static_cast<size_t>(count)) return {};
  if (count > kMaximumDecimal) return fmt::format("dense<{}> : {}", Hexadecimal(blob), of);
  return fmt::format("dense<{}> : {}", Nested(element, type.dims, blob, stride), of);
}

}  // namespace hespas::read::bytecode
