#include "read/hlo/literal.h"

#include <fmt/format.h>

#include "read/hlo/scanner.h"

namespace hespas::read::hlo {
namespace {

using ir::ElementKind;

bool IsFloat(const ir::Element& element) {
  return element.kind >= ElementKind::kF64 && element.kind <= ElementKind::kF6E3M2FN;
}

// Bit patterns where MLIR has no word: infinity and one quiet NaN for the IEEE-like widths.
std::string_view SpecialBits(const ir::Element& element, bool nan, bool negative) {
  switch (element.kind) {
    case ElementKind::kF64:
      return nan ? "0x7FF8000000000000" : negative ? "0xFFF0000000000000" : "0x7FF0000000000000";
    case ElementKind::kF32:
      return nan ? "0x7FC00000" : negative ? "0xFF800000" : "0x7F800000";
    case ElementKind::kF16:
      return nan ? "0x7E00" : negative ? "0xFC00" : "0x7C00";
    case ElementKind::kBF16:
      return nan ? "0x7FC0" : negative ? "0xFF80" : "0x7F80";
    case ElementKind::kF8E5M2:
      return nan ? "0x7E" : negative ? "0xFC" : "0x7C";
    default:
      return nan ? "0x7F" : negative ? "0xF0" : "0x70";
  }
}

// One number of the literal; MLIR wants a dot in every float and has no words for inf and nan.
void AppendNumber(std::string_view number, const ir::Element& element, std::string& out) {
  if (element.bits == 1 && (number == "0" || number == "1")) {
    out += number == "1" ? "true" : "false";
    return;
  }
  if (!IsFloat(element)) {
    out += number;
    return;
  }
  const bool negative = number.starts_with('-');
  const std::string_view magnitude = number.substr(negative ? 1 : 0);
  if (magnitude.starts_with("inf") || magnitude.starts_with("nan")) {
    out += SpecialBits(element, magnitude.starts_with("nan"), negative);
    return;
  }
  const size_t exponent = number.find_first_of("eE");
  const bool dotted = number.find('.') != std::string_view::npos;
  out += number.substr(0, exponent);
  if (!dotted) out += ".0";
  if (exponent != std::string_view::npos) out += number.substr(exponent);
}

bool IsNumberChar(char c) { return IsNameChar(c) || c == '+'; }

}  // namespace

std::string LiteralText(std::string_view literal, const ir::TypeTable& types, ir::TypeId type) {
  const std::string type_text = types.Text(type);
  const ir::Element& element = types[type].element;
  if (types[type].element_count() == 0) return fmt::format("dense<> : {}", type_text);
  Scanner scan(literal);
  // Older dumps repeat the shape before the braces.
  if (IsNameChar(scan.peek()) && literal.find('[') != std::string_view::npos) scan.Shape();
  std::string out = "dense<";
  out.reserve(literal.size() + type_text.size() + 16);
  while (true) {
    scan.SkipBlanks();
    if (scan.at_end()) break;
    const char c = scan.peek();
    const size_t begin = scan.position();
    if (scan.rest().starts_with("...")) return fmt::format("dense_resource<__elided__> : {}", type_text);
    if (c == '{' || c == '}') {
      out += c == '{' ? '[' : ']';
      scan.Seek(begin + 1);
    } else if (c == ',') {
      out += ", ";
      scan.Seek(begin + 1);
    } else if (IsNumberChar(c)) {
      size_t length = 1;
      while (IsNumberChar(scan.peek(length))) ++length;
      scan.Seek(begin + length);
      AppendNumber(scan.slice(begin, begin + length), element, out);
      if (scan.peek() == '(') scan.Balanced();  // the payload of nan(0x...)
    } else {
      out += c;
      scan.Seek(begin + 1);
    }
  }
  return fmt::format("{}> : {}", out, type_text);
}

}  // namespace hespas::read::hlo
