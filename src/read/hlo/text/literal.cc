#include "read/hlo/text/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "read/hlo/text/scanner.h"
#include "read/hlo/text/shape.h"

namespace hespas::read::hlo {
namespace {

using ir::ElementKind;

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

bool IsDigits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit); }

// Whether a decimal integer fits the element.
bool FitsInteger(std::string_view number, const ir::Element& element) {
  const bool negative = number.starts_with('-');
  const std::string_view digits = number.substr(negative ? 1 : 0);
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (!IsDigits(digits) || error != std::errc() || end != digits.data() + digits.size()) return false;
  if (element.bits == 0 || element.bits > 64) return true;
  const bool is_unsigned = element.kind == ElementKind::kUnsigned;
  if (is_unsigned && negative) return magnitude == 0;
  const int value_bits = element.bits - (is_unsigned ? 0 : 1);
  const uint64_t most = value_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << value_bits) - 1;
  return magnitude <= most + (negative ? 1 : 0);
}

bool IsDecimal(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error != std::errc::invalid_argument && end == number.data() + number.size();
}

bool IsNumberChar(char c) { return IsNameChar(c) || c == '+'; }

// Writes an HLO literal as MLIR's dense values and compares its form with the type.
class LiteralWriter {
 public:
  LiteralWriter(std::string_view literal, const ir::Type& type)
      : scan_(literal), type_(type), counts_(type.dims.size()) {
    // Older dumps repeat the shape before the braces.
    if (IsNameChar(scan_.peek()) && literal.find('[') != std::string_view::npos) scan_.Shape();
    out_ = "dense<";
    out_.reserve(literal.size() + 64);
  }

  bool is_elided() const { return elided_; }
  const std::string& text() const { return out_; }
  std::string TakeProblem() { return std::move(problem_); }

  void Run() {
    while (!elided_ && problem_.empty()) {
      scan_.SkipBlanks();
      if (scan_.at_end()) break;
      Token(scan_.peek());
    }
    if (elided_ || !problem_.empty()) return;
    if (depth_ > 0) Problem("a brace is never closed");
    if (type_.dims.empty() && values_ != 1) Problem(fmt::format("a scalar has one value, not {}", values_));
    if (!type_.dims.empty() && !closed_) Problem("braces are missing");
  }

 private:
  void Problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  void Token(char c) {
    const size_t begin = scan_.position();
    if (scan_.rest().starts_with("...")) {
      elided_ = true;
    } else if (IsNumberChar(c)) {
      size_t length = 1;
      while (IsNumberChar(scan_.peek(length))) ++length;
      scan_.Seek(begin + length);
      Value(scan_.slice(begin, begin + length));
      if (scan_.peek() == '(') scan_.Balanced();  // the payload of nan(0x...)
    } else {
      scan_.Seek(begin + 1);
      Punctuation(c);
    }
  }

  void Punctuation(char c) {
    if (c == '{') return Open();
    if (c == '}') return Close();
    if (c == ',') {
      out_ += ", ";
    } else if (c == '(' || c == ')') {
      in_pair_ = c == '(';
      if (in_pair_) Count();
      out_ += c;
    } else {
      Problem(fmt::format("`{}` has no place in a literal", c));
    }
  }

  void Open() {
    if (depth_ == counts_.size()) return Problem(fmt::format("braces are nested deeper than {}", counts_.size()));
    if (depth_ > 0) ++counts_[depth_ - 1];
    counts_[depth_++] = 0;
    out_ += '[';
  }

  void Close() {
    if (depth_ == 0) return Problem("a brace is closed that was not opened");
    --depth_;
    closed_ = closed_ || depth_ == 0;
    const int64_t wanted = type_.dims[depth_];
    if (wanted != ir::kDynamic && counts_[depth_] != wanted) {
      return Problem(fmt::format("dimension {} has {} entries instead of {}", depth_, counts_[depth_], wanted));
    }
    out_ += ']';
  }

  void Count() {
    ++values_;
    if (depth_ != counts_.size())
      return Problem(fmt::format("values stand {} braces deep, not {}", depth_, counts_.size()));
    if (depth_ > 0) ++counts_[depth_ - 1];
  }

  // One number; MLIR wants a dot in every float and has no words for inf and nan.
  void Value(std::string_view number) {
    if (!in_pair_) Count();
    const ir::Element& element = type_.element;
    if (element.kind == ElementKind::kInteger && element.bits == 1) return Predicate(number);
    if (!IsFloat(element)) {
      if (!FitsInteger(number, element)) return Unfit(number);
      out_ += number;
      return;
    }
    const bool negative = number.starts_with('-');
    const std::string_view magnitude = number.substr(negative ? 1 : 0);
    if (magnitude == "inf" || magnitude == "nan") {
      out_ += SpecialBits(element, magnitude == "nan", negative);
      return;
    }
    if (!IsDecimal(number)) return Unfit(number);
    const size_t exponent = number.find_first_of("eE");
    const bool dotted = number.find('.') != std::string_view::npos;
    out_ += number.substr(0, exponent);
    if (!dotted) out_ += ".0";
    if (exponent != std::string_view::npos) out_ += number.substr(exponent);
  }

  void Predicate(std::string_view word) {
    if (word != "true" && word != "false" && !IsDigits(word)) return Unfit(word);
    out_ += word == "false" || word.find_first_not_of('0') == std::string_view::npos ? "false" : "true";
  }

  void Unfit(std::string_view number) {
    Problem(fmt::format("`{}` is no value of `{}`", number.substr(0, 60), ir::ElementText(type_.element)));
  }

  Scanner scan_;
  const ir::Type& type_;
  std::vector<int64_t> counts_;  // entries so far at each depth of braces
  size_t depth_ = 0;
  size_t values_ = 0;
  bool closed_ = false;
  bool in_pair_ = false;
  bool elided_ = false;
  std::string out_;
  std::string problem_;
};

}  // namespace

std::string LiteralText(std::string_view literal, const ir::TypeTable& types, ir::TypeId type, std::string& problem) {
  const std::string type_text = types.Text(type);
  if (types[type].element_count() == 0) return fmt::format("dense<> : {}", type_text);
  LiteralWriter writer(literal, types[type]);
  writer.Run();
  problem = writer.TakeProblem();
  if (writer.is_elided()) return fmt::format("dense_resource<__elided__> : {}", type_text);
  return fmt::format("{}> : {}", writer.text(), type_text);
}

}  // namespace hespas::read::hlo
