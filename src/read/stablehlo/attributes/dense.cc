#include "read/stablehlo/attributes/dense.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>

#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

constexpr size_t kMaxRank = 64;

// End of the digits at `p`, looked at eight bytes at a time (digits are the bytes that `^ 0x30` makes less than ten).
const char* SkipDigits(const char* p, const char* end) {
  constexpr uint64_t kEach = 0x0101010101010101;
  while (end - p >= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    const uint64_t value = word ^ (0x30 * kEach);
    const uint64_t other = (((value & (0x7F * kEach)) + 0x76 * kEach) | value) & (0x80 * kEach);
    constexpr bool kLittle = std::endian::native == std::endian::little;
    if (other != 0) return p + (kLittle ? std::countr_zero(other) : std::countl_zero(other)) / 8;
    p += 8;
  }
  while (IsDigit(*p)) ++p;
  return p;
}

// End of the number at `p`: an integer, a float or a hexadecimal bit pattern; nullptr where there is none.
const char* NumberEnd(const char* p, const char* end) {
  if (*p == '-') {
    ++p;
    while (IsSpace(*p)) ++p;
  }
  if (!IsDigit(*p)) return nullptr;
  if (p[0] == '0' && p[1] == 'x' && IsHexDigit(p[2])) {
    p += 3;
    while (IsHexDigit(*p)) ++p;
    return p;
  }
  ++p;
  if (IsDigit(*p)) p = SkipDigits(p, end);
  if (*p != '.') return p;
  p = SkipDigits(p + 1, end);
  if (*p == 'e' || *p == 'E') {
    const char* exponent = p + 1;
    if (*exponent == '+' || *exponent == '-') ++exponent;
    if (!IsDigit(*exponent)) return p;
    p = exponent;
    while (IsDigit(*p)) ++p;
  }
  return p;
}

class DenseReader {
 public:
  DenseReader(Cursor& cursor, DenseShape& shape) : c_(cursor), shape_(shape) {}

  bool Read() {
    switch (c_.Peek()) {
      case '>':
        shape_.form = DenseShape::Form::kEmpty;
        break;
      case '"':
        if (!ReadString()) return false;
        break;
      case '[':
        shape_.form = DenseShape::Form::kList;
        if (!ReadList()) return false;
        break;
      default:
        shape_.form = DenseShape::Form::kSplat;
        if (!ReadElement()) return false;
    }
    return c_.Expect('>');
  }

 private:
  // A hexadecimal blob, or one string as a splat.
  bool ReadString() {
    std::string_view text;
    if (!c_.String(text)) return false;
    shape_.form = text.starts_with("\"0x") ? DenseShape::Form::kHex : DenseShape::Form::kSplat;
    return true;
  }

  bool ReadNumber() {
    const char* end = NumberEnd(c_.at(), c_.end());
    if (!end || IsIdent(*end)) return c_.FailExpected("a number, `true`, `false`, `(` or `[`");
    c_.MoveTo(end);
    return true;
  }

  bool ReadElement() {
    const char c = c_.Peek();
    if (IsDigit(c) || c == '-') return ReadNumber();
    if (c == '(') {
      c_.Advance();
      if (!ReadPart() || !c_.Expect(',') || !ReadPart()) return false;
      return c_.Expect(')');
    }
    if (c == '"') {
      std::string_view text;
      return c_.String(text);
    }
    if (c_.EatWord("true") || c_.EatWord("false")) return true;
    return c_.FailExpected("a number, `true`, `false`, `(` or `[`");
  }

  bool ReadPart() {
    c_.Space();
    return ReadNumber();
  }

  // `1, 2, 3` up to the first character that continues no plain list of numbers: the hot loop.
  bool ReadRun(int64_t& count) {
    while (true) {
      const char* p = c_.at();
      const char* end;
      // Numbers followed by ", " or ",".
      while ((end = NumberEnd(p, c_.end())) != nullptr && *end == ',') {
        ++count;
        p = end + 1;
        if (*p == ' ') ++p;
      }
      c_.MoveTo(p);
      if (c_.Peek() == '[') return true;
      if (!ReadElement()) return false;
      ++count;
      if (c_.Peek() != ',') return true;
      c_.Advance();
      c_.Space();
      if (*c_ == ']') return c_.FailExpected("a number, `true`, `false`, `(` or `[`");
    }
  }

  // Counts the elements of each level; every list of a level must have as many as its first.
  bool ReadList() {
    std::vector<int64_t> counts;
    size_t leaf_depth = 0;  // depth at which elements stand, once known
    do {
      if (c_.Peek() == '[') {
        if (counts.size() == kMaxRank) return c_.Fail(kTooDeep, "a dense attribute of rank over 64");
        if (leaf_depth != 0 && counts.size() == leaf_depth) return c_.FailExpected("an element");
        c_.Advance();
        counts.push_back(0);
        if (c_.Peek() == '[') continue;
        if (*c_ != ']') {
          if (leaf_depth != 0 && counts.size() != leaf_depth) return c_.FailExpected("`[`");
          leaf_depth = counts.size();
          if (!ReadRun(counts.back())) return false;
          if (*c_ == '[') return c_.FailExpected("an element");
        }
      }
      while (!counts.empty() && c_.Peek() == ']') {
        if (!CloseList(counts)) return false;
      }
      if (counts.empty()) break;
      if (!c_.Expect(',')) return false;
      if (c_.Peek() != '[') return c_.FailExpected("[");
    } while (true);
    return true;
  }

  bool CloseList(std::vector<int64_t>& counts) {
    const size_t depth = counts.size() - 1;
    if (shape_.dims.size() <= depth) shape_.dims.resize(depth + 1, -1);
    if (shape_.dims[depth] < 0) shape_.dims[depth] = counts.back();
    if (shape_.dims[depth] != counts.back()) {
      return c_.Fail(kBadAttribute, fmt::format("a list of {} elements beside lists of {} elements", counts.back(),
                                                shape_.dims[depth]));
    }
    c_.Advance();
    counts.pop_back();
    if (!counts.empty()) ++counts.back();
    return true;
  }

  Cursor& c_;
  DenseShape& shape_;
};

}  // namespace

bool ReadDense(Cursor& cursor, DenseShape& shape) { return DenseReader(cursor, shape).Read(); }

}  // namespace hespas::read
