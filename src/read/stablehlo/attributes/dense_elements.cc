#include "read/stablehlo/attributes/dense_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "read/stablehlo/cursor.h"

namespace hespas::read {
namespace {

using ir::ElementKind;

bool IsIntegerKind(ElementKind kind) {
  return kind == ElementKind::kInteger || kind == ElementKind::kSigned || kind == ElementKind::kUnsigned;
}

// Characters between elements.
bool IsBetween(char c) { return IsSpace(c) || c == ',' || c == '[' || c == ']'; }

// A number up to the next separator.
std::string_view Number(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && !IsBetween(text[end]) && text[end] != ')') ++end;
  return text.substr(0, end);
}

// Signless integers may be written with or without a sign: -128 to 255 for i8.
bool Fits(std::string_view number, const ir::Element& element) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  while (!number.empty() && IsSpace(number[0])) number.remove_prefix(1);
  const bool hexadecimal = number.starts_with("0x");
  if (hexadecimal) number.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc()) return element.bits > 64;
  const uint64_t half = element.bits >= 64 ? uint64_t{1} << 63 : uint64_t{1} << (element.bits - 1);
  if (negative) return element.kind == ElementKind::kUnsigned ? value == 0 : value <= half;
  return value < half || (element.kind != ElementKind::kSigned && value - half < half);
}

std::optional<Misfit> FindInIntegers(std::string_view text, const ir::Element& element) {
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (IsBetween(c)) {
      ++i;
      continue;
    }
    const std::string_view number = Number(text.substr(i));
    const bool word = number == "true" || number == "false";
    if (!word && !IsDigit(c) && c != '-' && c != '(') return std::nullopt;  // a comment
    const bool hexadecimal = number.starts_with("0x") || number.starts_with("-0x");
    if (word ? element.bits != 1 : c == '(' || (!hexadecimal && number.find('.') != std::string_view::npos)) {
      return Misfit{&text[i], fmt::format("`{}` is no integer of {} bits", number, element.bits)};
    }
    if (c == '-' && number.size() == 1) return std::nullopt;  // a space behind the sign
    if (!word && !Fits(number, element)) {
      return Misfit{&text[i], fmt::format("`{}` does not fit into {} bits", number, element.bits)};
    }
    i += number.size();
  }
  return std::nullopt;
}

std::optional<Misfit> FindInFloats(std::string_view text, const ir::Element& element) {
  if (const size_t bracket = text.find('('); bracket != std::string_view::npos) {
    return Misfit{&text[bracket], "a complex number stands where a real one is needed"};
  }
  for (size_t x = text.find("0x"); x != std::string_view::npos; x = text.find("0x", x + 2)) {
    std::string_view digits = Number(text.substr(x)).substr(2);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.size() * 4 <= (size_t{element.bits} + 3) / 4 * 4) continue;
    return Misfit{&text[x], fmt::format("`0x{}` does not fit into {} bits", digits, element.bits)};
  }
  return std::nullopt;
}

std::optional<Misfit> FindInComplex(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsBetween(text[i])) continue;
    if (text[i] != '(') {
      if (!IsDigit(text[i]) && text[i] != '-') return std::nullopt;  // a comment
      return Misfit{&text[i], "a real number stands where a complex one, (real, imaginary), is needed"};
    }
    i = std::min(text.find(')', i), text.size());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Misfit> FindMisfit(std::string_view text, const ir::Element& element) {
  if (element.complex) return FindInComplex(text);
  if (IsIntegerKind(element.kind)) return element.bits == 0 ? std::nullopt : FindInIntegers(text, element);
  const bool number = element.kind != ElementKind::kNone && element.kind != ElementKind::kIndex &&
                      element.kind != ElementKind::kQuantised && element.kind != ElementKind::kOpaque;
  return number ? FindInFloats(text, element) : std::nullopt;
}

}  // namespace hespas::read
