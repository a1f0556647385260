// Values of attribute texts.
//
// - Each function reads one source spelling, whatever version or dialect wrote it (`array<i64: 1, 2>`,
//   `dense<[1, 2]> : tensor<2xi64>`, `[1, 2]`, ...), and returns nothing where the text says something else.
// - Views point into the text given. Work is linear in that text, without recursion.
// - Only index lists are decoded, up to kMaxDecoded values; a constant's payload is described, not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::ir {

inline constexpr int64_t kMaxDecoded = int64_t{1} << 22;
inline constexpr int64_t kMaxSplat = int64_t{1} << 16;  // values that one written value may represent

// "3", "-1 : i32", "0x10", "dense<3> : tensor<i64>", "true".
std::optional<int64_t> AsInteger(std::string_view text);
// "true", "false : i1", "dense<true> : tensor<i1>"; "" and "unit" are true.
std::optional<bool> AsBool(std::string_view text);
// "1.5", "-2.0e-3 : f32", "3".
std::optional<double> AsFloat(std::string_view text);
// The characters of a quoted string, escapes resolved.
std::optional<std::string> AsString(std::string_view text);
// "mesh" of `@mesh`, `@"mesh"`; the outermost name of `@a::@b`; "" where the text is no symbol.
std::string_view AsSymbol(std::string_view text);
// "EQ" of `#stablehlo<comparison_direction EQ>`, `#stablehlo.comparison_direction<EQ>`, `EQ` and `"EQ"`.
std::string_view AsEnum(std::string_view text);

// Flattened integers of any list spelling; a splat is expanded. Booleans count as 0 and 1.
std::optional<std::vector<int64_t>> AsIntegers(std::string_view text);
// The same without allocation of its own; `out` is cleared first.
bool DecodeIntegers(std::string_view text, std::vector<int64_t>& out);

// A dense two-dimensional list in row order; ragged rows are filled up with -1.
struct IntegerMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int64_t> values;

  int64_t at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * columns + column)]; }
};
std::optional<IntegerMatrix> AsIntegerMatrix(std::string_view text);

// The shape in a type's text: "tensor<2x?xi64>" has dims {2, kDynamic} and element "i64".
struct ShapeText {
  std::vector<int64_t> dims;
  std::string_view element;
};
std::optional<ShapeText> AsShape(std::string_view type_text);

// What a `dense<...>`, `dense_resource<...>`, `array<...>` or plain number holds, without reading its values.
enum class DenseForm : uint8_t { kEmpty, kSplat, kList, kHex, kResource };
struct DenseInfo {
  DenseForm form = DenseForm::kEmpty;
  std::string_view payload;  // between the outer angle brackets; the digits of a hex blob without "0x and "
  std::string_view type;     // after the colon, or "i64" of array<i64: ...>
};
std::optional<DenseInfo> AsDense(std::string_view text);

// Top-level items of "[a, b]", "(a, b)", "{a, b}", "<a, b>" or a bare "a, b", trimmed.
std::vector<std::string_view> ListItems(std::string_view text);

// Entries of `{a = 1, "b" = 2, c}`, `#stablehlo.dot<lhs_contracting_dimensions = [1], ...>`, `<name = "x">`.
struct Entry {
  std::string_view name;   // without quotes
  std::string_view value;  // "" for a unit
};
std::vector<Entry> Entries(std::string_view text);
// The value of one entry, or nullopt.
std::optional<std::string_view> FindEntry(const std::vector<Entry>& entries, std::string_view name);

// `text` without surrounding white space and comments.
std::string_view Trim(std::string_view text);

}  // namespace hespas::ir
