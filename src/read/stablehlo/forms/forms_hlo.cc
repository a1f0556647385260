// The irregular pretty forms of stablehlo, mhlo and chlo.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "read/stablehlo/attributes/convolution_numbers.h"
#include "read/stablehlo/errors.h"
#include "read/stablehlo/forms/forms.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

// `[[a, b], ...]` or `[a, b]`; as written.
bool ReadNestedList(OpReader& r, std::string_view& text) {
  if (r.c.Peek() != '[') return r.c.FailExpected("[");
  return r.attributes.Read(text);
}

// `[DEFAULT, HIGH]` -> `[#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]`.
bool ReadPrecision(OpReader& r) {
  constexpr std::string_view kValues[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE"};
  if (!r.c.ExpectWord("precision") || !r.c.Expect('=') || !r.c.Expect('[')) return false;
  std::string text = "[";
  if (!r.c.Eat(']')) {
    do {
      const std::string_view value = r.c.Word();
      if (value.empty()) return r.c.FailExpected("a precision");
      if (std::find(std::begin(kValues), std::end(kValues), value) == std::end(kValues)) {
        r.c.MoveTo(value.data());
        return r.c.FailExpected("one of DEFAULT, HIGH, HIGHEST");
      }
      if (text.size() > 1) text += ", ";
      text += r.EnumText("precision", value);
    } while (r.c.Eat(','));
    if (!r.c.Expect(']')) return false;
  }
  r.AddMade("precision_config", text + "]");
  return true;
}

// `[0] x [1]`.
bool ReadListPair(OpReader& r, std::string_view& lhs, std::string_view& rhs) {
  if (!r.c.Expect('=') || !ReadIntegerList(r, lhs)) return false;
  if (r.c.Peek() != 'x') return r.c.FailExpected("x");
  r.c.Advance();
  return ReadIntegerList(r, rhs);
}

}  // namespace

bool ReadConstant(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  if (!r.Dictionary()) return false;
  std::string_view text;
  r.c.Space();
  const size_t offset = r.c.offset();
  if (!r.attributes.Read(text)) return false;
  ir::TypeId type = r.attributes.last_type();
  if (!type.valid()) {
    return r.c.Fail(kBadAttribute, offset, "a constant needs a value with a type", "write dense<...> : tensor<...>");
  }
  r.Add("value", text);
  r.draft.result_types.push_back(type);
  return true;
}

bool ReadCompare(OpReader& r) {
  constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  if (r.c.Peek() == '(') return r.GenericBody();
  const std::string_view direction = r.c.Word();
  if (std::find(std::begin(kDirections), std::end(kDirections), direction) == std::end(kDirections)) {
    if (!direction.empty()) r.c.MoveTo(direction.data());
    return r.c.FailExpected("one of EQ, NE, GE, GT, LE, LT");
  }
  r.Add("comparison_direction", r.EnumText("comparison_direction", direction));
  if (!r.c.Expect(',') || !r.Operand() || !r.c.Expect(',') || !r.Operand()) return false;
  if (r.c.Eat(',')) {
    const std::string_view type = r.c.Word();
    if (type.empty()) return r.c.FailExpected("a comparison type");
    r.Add("compare_type", r.EnumText("comparison_type", type));
  }
  return r.Dictionary() && r.FunctionSuffix();
}

// `%x [s:l(:stride)?, ...]`.
bool ReadSlice(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  if (!r.Operand() || !r.c.Expect('[')) return false;
  std::array<std::string, 3> lists = {"[", "[", "["};
  if (!r.c.Eat(']')) {
    do {
      std::array<std::string_view, 3> parts = {"", "", "1"};
      if (!r.c.Integer(parts[0]) || !r.c.Expect(':') || !r.c.Integer(parts[1])) return false;
      if (r.c.Eat(':') && !r.c.Integer(parts[2])) return false;
      for (size_t i = 0; i < 3; ++i) {
        if (lists[i].size() > 1) lists[i] += ", ";
        lists[i] += parts[i];
      }
    } while (r.c.Eat(','));
    if (!r.c.Expect(']')) return false;
  }
  r.AddMade("start_indices", lists[0] + "]");
  r.AddMade("limit_indices", lists[1] + "]");
  r.AddMade("strides", lists[2] + "]");
  return r.Dictionary() && r.FunctionSuffix();
}

bool ReadDot(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  if (!r.Operand() || !r.c.Expect(',') || !r.Operand()) return false;
  if (r.c.Eat(',') && !ReadPrecision(r)) return false;
  return r.Dictionary() && r.FunctionSuffix();
}

bool ReadDotGeneral(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  if (!r.Operand() || !r.c.Expect(',') || !r.Operand() || !r.c.Expect(',')) return false;
  std::string_view lhs_batch = "[]", rhs_batch = "[]", lhs, rhs;
  if (r.c.EatWord("batching_dims")) {
    if (!ReadListPair(r, lhs_batch, rhs_batch) || !r.c.Expect(',')) return false;
  }
  if (!r.c.ExpectWord("contracting_dims") || !ReadListPair(r, lhs, rhs)) return false;
  std::string text = fmt::format("#{}.dot<", r.dialect());
  if (lhs_batch != "[]" || rhs_batch != "[]") {
    text += fmt::format("lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, ", lhs_batch, rhs_batch);
  }
  text += fmt::format("lhs_contracting_dimensions = {}, rhs_contracting_dimensions = {}>", lhs, rhs);
  r.AddMade("dot_dimension_numbers", std::move(text));
  bool precision = false;
  while (r.c.Eat(',')) {
    if (!precision && r.c.Peek() == 'p') {
      if (!ReadPrecision(r)) return false;
      precision = true;
      continue;
    }
    std::string_view algorithm;
    if (!r.c.ExpectWord("algorithm") || !r.c.Expect('=')) return false;
    if (r.c.Peek() == '#') {
      if (!r.attributes.Read(algorithm)) return false;
      r.Add("algorithm", algorithm);
    } else {
      if (!r.attributes.ReadBracketed(algorithm)) return false;
      r.AddMade("algorithm", fmt::format("#{}.dot_algorithm{}", r.dialect(), algorithm));
    }
    break;
  }
  return r.Dictionary() && r.FunctionSuffix();
}

namespace {

bool AllPairs(std::string_view list) {
  const std::vector<std::string_view> rows = ir::ListItems(list);
  return std::all_of(rows.begin(), rows.end(), [](std::string_view row) { return ir::ListItems(row).size() == 2; });
}

// `window = {stride = [..], pad = [[l, h], ..], lhs_dilate = [..], rhs_dilate = [..], reverse = [..]}`.
bool ReadWindow(OpReader& r) {
  if (!r.c.ExpectWord("window") || !r.c.Expect('=') || !r.c.Expect('{')) return false;
  if (r.c.Eat('}')) return true;
  std::vector<std::string_view> seen;
  do {
    r.c.Space();
    const size_t offset = r.c.offset();
    const std::string_view key = r.c.Word();
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return r.c.Fail(kSyntax, offset, fmt::format("`{}` is given twice", key));
    }
    seen.push_back(key);
    if (!r.c.Expect('=')) return false;
    std::string_view list;
    if (key == "stride" || key == "lhs_dilate" || key == "rhs_dilate") {
      if (!ReadIntegerList(r, list)) return false;
      r.Add(key == "stride" ? "window_strides" : key == "lhs_dilate" ? "lhs_dilation" : "rhs_dilation", list);
    } else if (key == "pad") {
      const size_t start = r.c.offset();
      if (!ReadNestedList(r, list)) return false;
      const auto rows = std::count(list.begin(), list.end(), '[') - 1;
      const auto pairs = ir::AsIntegerMatrix(list);
      if (!pairs || (rows > 0 && (pairs->rows != rows || pairs->columns != 2 || !AllPairs(list)))) {
        return r.c.Fail(kBadAttribute, start, "`pad` must be a list of pairs [low, high]");
      }
      r.AddMade("padding", fmt::format("dense<{}> : tensor<{}x{}xi64>", list, rows, rows > 0 ? 2 : 0));
    } else if (key == "reverse") {
      if (!ReadNestedList(r, list)) return false;
      std::string values;
      for (const char ch : list) {
        if (ch == '0') values += "false";
        if (ch == '1') values += "true";
        if (ch != '0' && ch != '1' && ch != '[' && ch != ']') values += ch;
      }
      r.AddMade("window_reversal", values.empty() ? "array<i1>" : fmt::format("array<i1: {}>", values));
    } else {
      return r.c.Fail(kSyntax, offset,
                      fmt::format("expected stride, pad, lhs_dilate, rhs_dilate or reverse, found `{}`", key));
    }
  } while (r.c.Eat(','));
  return r.c.Expect('}');
}

}  // namespace

bool ReadConvolution(OpReader& r) {
  if (!r.ParenthesisedOperands()) return false;
  if (!r.c.EatWord("dim_numbers")) {
    // `stablehlo.convolution(%a, %b) <{...}> : ...`
    if (r.c.Peek() == '<') {
      r.c.Advance();
      return r.ReadDictionary(r.draft.attributes) && r.c.Expect('>') && r.Dictionary() && r.FunctionSuffix();
    }
    return r.c.FailExpected("dim_numbers");
  }
  if (!r.c.Expect('=')) return false;
  r.c.Space();
  const char* start = r.c.at();
  if (!ReadConvolutionNumbers(r.c)) return false;
  const std::string_view numbers = r.c.From(start);
  r.AddMade("dimension_numbers", fmt::format("#{}.conv<{}>", r.dialect(), numbers));
  if (!r.c.Expect(',') || !ReadWindow(r)) return false;
  return r.Dictionary() && r.FunctionSuffix();
}

bool ReadCustomCall(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  std::string_view target;
  if (!r.c.Symbol(target)) return false;
  target.remove_prefix(1);
  r.draft.attributes.reserve(4);
  if (target.starts_with('"')) {
    r.Add("call_target_name", target);
  } else {
    r.AddMade("call_target_name", fmt::format("\"{}\"", target));
  }
  return r.ParenthesisedOperands() && r.Dictionary() && r.FunctionSuffix();
}

namespace {

bool CompositeRegionDone(OpReader& r) {
  if (r.c.Eat(',')) return r.OpenRegion(CompositeRegionDone);
  return r.c.Expect(')') && r.Dictionary() && r.FunctionSuffix();
}

}  // namespace

bool ReadComposite(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  std::string_view name;
  if (!r.c.String(name)) return false;
  r.Add("name", name);
  if (!r.Operands()) return false;
  if (r.c.Eat('(')) return r.OpenRegion(CompositeRegionDone);
  return r.Dictionary() && r.FunctionSuffix();
}

bool ReadGetTupleElement(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  std::string_view index;
  if (!r.Operand() || !r.c.Expect('[') || !r.c.Integer(index) || !r.c.Expect(']')) return false;
  r.Add("index", index);
  return r.Dictionary() && r.FunctionSuffix();
}

// `format = e8m23`.
bool ReadReducePrecision(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  if (!r.Operand() || !r.c.Expect(',') || !r.c.ExpectWord("format") || !r.c.Expect('=')) return false;
  r.c.Space();
  const size_t offset = r.c.offset();
  const std::string_view word = r.c.Word();
  const size_t middle = word.find('m');
  const auto digits = [](std::string_view s) {
    return !s.empty() && s.size() < 10 && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (word.empty() || word[0] != 'e' || middle == std::string_view::npos || !digits(word.substr(1, middle - 1)) ||
      !digits(word.substr(middle + 1))) {
    r.c.MoveTo(offset);
    return r.c.FailExpected("exponent and mantissa bits, e#m#");
  }
  r.Add("exponent_bits", word.substr(1, middle - 1));
  r.Add("mantissa_bits", word.substr(middle + 1));
  return r.Dictionary() && ReadTypes(r, 'S');
}

bool ReadOptimizationBarrier(OpReader& r) {
  if (r.c.Peek() == '(') {
    r.c.Advance();
    return r.c.Expect(')');
  }
  if (!r.Dictionary()) return false;
  if (r.c.Peek() == '(') {
    r.c.Advance();
    return r.c.Expect(')');
  }
  return r.Operands() && ReadTypes(r, 'L');
}

bool ReadReturn(OpReader& r) {
  if (!r.Dictionary() || !r.Operands() || !r.Dictionary()) return false;
  if (r.draft.operands.empty()) return true;
  return r.c.Expect(':') && r.types.ReadList(r.draft.operand_types);
}

bool ReadTopK(OpReader& r) {
  if (!r.c.Expect('(') || !r.Operand()) return false;
  if (!r.c.Eat(','))
    return r.c.Expect(')') && r.c.Expect('<') && r.ReadDictionary(r.draft.attributes) && r.c.Expect('>') &&
           r.Dictionary() && r.FunctionSuffix();
  std::string_view k;
  if (!r.c.ExpectWord("k") || !r.c.Expect('=') || !r.c.Integer(k)) return false;
  r.Add("k", k);
  while (r.c.Eat(',')) {
    const std::string_view key = r.c.Word();
    if (key != "largest" && key != "is_stable") return r.c.FailExpected("`largest` or `is_stable`");
    if (!r.c.Expect('=')) return false;
    const std::string_view value = r.c.Word();
    if (value != "true" && value != "false") return r.c.FailExpected("`true` or `false`");
    r.Add(key, value);
  }
  return r.c.Expect(')') && r.Dictionary() && ReadTypes(r, 'A');
}

}  // namespace hespas::read
