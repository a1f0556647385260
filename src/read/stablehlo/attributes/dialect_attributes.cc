#include "read/stablehlo/attributes/dialect_attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "read/stablehlo/attributes/convolution_numbers.h"
#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

struct StructAttribute {
  std::string_view name;  // without dialect
  std::string_view keys;  // separated by spaces
};

constexpr StructAttribute kStructs[] = {
    {"dot", "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions"},
    {"gather",
     "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map "
     "index_vector_dim"},
    {"scatter",
     "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims "
     "scatter_dims_to_operand_dims index_vector_dim"},
};

struct EnumAttribute {
  std::string_view name;
  std::string_view values;
};

constexpr EnumAttribute kEnums[] = {
    {"precision", "DEFAULT HIGH HIGHEST PACKED_NIBBLE"},
    {"comparison_direction", "EQ NE GE GT LE LT"},
    {"comparison_type", "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED"},
    {"fft_type", "FFT IFFT RFFT IRFFT"},
    {"transpose", "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"},
    {"rng_distribution", "UNIFORM NORMAL"},
    {"rng_algorithm", "DEFAULT THREE_FRY PHILOX"},
};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    if (space > 0) words.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

// The part after the dot of a name of stablehlo, mhlo or chlo; empty for other dialects.
std::string_view Mnemonic(std::string_view name) {
  for (const std::string_view dialect : {"stablehlo.", "mhlo.", "chlo."}) {
    if (name.starts_with(dialect)) return name.substr(dialect.size());
  }
  return {};
}

bool SkipValue(Cursor& c) {
  if (c.Peek() == '[' || *c == '<') return c.SkipBalanced();
  std::string_view text;
  return c.Integer(text);
}

bool CheckStruct(Cursor& c, std::string_view body, const StructAttribute& rule) {
  const char* const after = c.at();
  const std::vector<std::string_view> keys = Words(rule.keys);
  std::vector<std::string_view> seen;
  c.MoveTo(body.data() + 1);
  if (!c.Eat('>')) {
    do {
      if (c.Peek() == '>') break;  // a comma may end the list
      const size_t start = c.offset();
      const std::string_view key = c.Word();
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        return c.Fail(kBadAttribute, start, fmt::format("expected one of: `{}`", fmt::join(keys, "`, `")));
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        return c.Fail(kBadAttribute, start, fmt::format("`{}` is given twice", key));
      }
      seen.push_back(key);
      if (!c.Expect('=') || !SkipValue(c)) return false;
    } while (c.Eat(','));
    if (!c.Expect('>')) return false;
  }
  c.MoveTo(after);
  return true;
}

// Dimension numbers in letters, or `raw` with a key for each dimension.
bool CheckConvolution(Cursor& c, std::string_view body) {
  constexpr StructAttribute kRaw{
      "conv",
      "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
      "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension "
      "output_spatial_dimensions"};
  const char* const after = c.at();
  c.MoveTo(body.data() + 1);
  if (c.EatWord("raw")) {
    c.MoveTo(after);
    return CheckStruct(c, body.substr(static_cast<size_t>(body.find("raw") + 2)), kRaw);
  }
  if (!ReadConvolutionNumbers(c) || !c.Expect('>')) return false;
  c.MoveTo(after);
  return true;
}

bool CheckEnum(Cursor& c, std::string_view body) {
  const std::vector<std::string_view> words = Words(body.substr(1, body.size() - 2));
  if (words.size() != 2) return true;
  for (const EnumAttribute& rule : kEnums) {
    if (rule.name != words[0]) continue;
    const std::vector<std::string_view> values = Words(rule.values);
    if (std::find(values.begin(), values.end(), words[1]) != values.end()) return true;
    c.MoveTo(words[1].data());
    return c.Fail(kBadAttribute,
                  fmt::format("`{}` is no {}; expected one of: {}", words[1], words[0], fmt::join(values, ", ")));
  }
  return true;
}

}  // namespace

bool CheckDialectAttribute(Cursor& c, std::string_view name, std::string_view body) {
  if (name == "stablehlo" || name == "mhlo" || name == "chlo") return CheckEnum(c, body);
  if (name.starts_with("vhlo.result_accuracy_v") && body.find("#vhlo.result_accuracy_mode") == std::string_view::npos &&
      body.find("mode = ") != std::string_view::npos) {
    c.MoveTo(body.data() + body.find("mode = ") + 7);
    return c.Fail(kBadAttribute, "expected a VHLO result accuracy mode");
  }
  const std::string_view mnemonic = Mnemonic(name);
  if (mnemonic == "conv" && body.starts_with('<')) return CheckConvolution(c, body);
  for (const StructAttribute& rule : kStructs) {
    if (rule.name == mnemonic) return CheckStruct(c, body, rule);
  }
  return true;
}

}  // namespace hespas::read
