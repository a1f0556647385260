// Attributes of the IR that HLO distributes over several keys.
#include <fmt/format.h>

#include "read/hlo/attributes/attributes.h"
#include "read/hlo/attributes/window.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

// `{1,0}` as `[1, 0]`; `[]` where the key is missing.
std::string ListOf(std::span<const AttributeSyntax> attributes, std::string_view key) {
  const auto integers = Integers(ValueOf(attributes, key));
  return integers ? ListText(*integers) : "[]";
}

std::string_view NumberOr(std::span<const AttributeSyntax> attributes, std::string_view key, std::string_view other) {
  const std::string_view value = ValueOf(attributes, key);
  return value.empty() ? other : value;
}

std::string BooleanArray(const std::vector<int64_t>& values) {
  std::string out = "array<i1";
  for (size_t i = 0; i < values.size(); ++i) out += fmt::format("{}{}", i == 0 ? ": " : ", ", values[i] != 0);
  return out + ">";
}

constexpr std::string_view kGrouped[] = {"all-reduce",     "all-gather",           "all-to-all",
                                         "reduce-scatter", "collective-broadcast", "ragged-all-to-all"};

}  // namespace

void AttributeBuilder::AddContraction(std::span<const AttributeSyntax> attributes) {
  AddCopy("dot_dimension_numbers",
          fmt::format("#stablehlo.dot<lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, "
                      "lhs_contracting_dimensions = {}, rhs_contracting_dimensions = {}>",
                      ListOf(attributes, "lhs_batch_dims"), ListOf(attributes, "rhs_batch_dims"),
                      ListOf(attributes, "lhs_contracting_dims"), ListOf(attributes, "rhs_contracting_dims")));
}

// Library convolutions (custom-call) carry the same keys, but only where the call is one.
void AttributeBuilder::AddConvolution(std::span<const AttributeSyntax> attributes, bool is_custom_call) {
  const std::string_view labels = ValueOf(attributes, "dim_labels");
  if (is_custom_call && labels.empty()) return;
  const std::string numbers = DimensionLabels(labels);
  if (numbers.empty()) return Problem("dim_labels", labels);
  AddCopy("dimension_numbers", numbers);
  AddCopy("batch_group_count", fmt::format("{} : i64", NumberOr(attributes, "batch_group_count", "1")));
  AddCopy("feature_group_count", fmt::format("{} : i64", NumberOr(attributes, "feature_group_count", "1")));
  const std::string_view text = NumberOr(attributes, "window", "{}");
  const auto window = ParseWindow(text);
  if (!window) return Problem("window", text);
  AddCopy("window_strides", ArrayText(window->stride));
  AddCopy("padding", PaddingText(*window));
  AddCopy("lhs_dilation", ArrayText(window->lhs_dilate));
  AddCopy("rhs_dilation", ArrayText(window->rhs_dilate));
  if (window->has_reversal) AddCopy("window_reversal", BooleanArray(window->rhs_reversal));
  // A convolution's window is its kernel's spatial shape; a library call's operands may be packed.
  if (is_custom_call) AddCopy("window_dimensions", ArrayText(window->size));
}

void AttributeBuilder::AddWindow(std::span<const AttributeSyntax> attributes) {
  const std::string_view text = NumberOr(attributes, "window", "{}");
  const auto window = ParseWindow(text);
  if (!window) return Problem("window", text);
  AddCopy("window_dimensions", ArrayText(window->size));
  AddCopy("window_strides", ArrayText(window->stride));
  AddCopy("padding", PaddingText(*window));
  AddCopy("base_dilations", ArrayText(window->lhs_dilate));
  AddCopy("window_dilations", ArrayText(window->rhs_dilate));
}

void AttributeBuilder::AddGather(std::span<const AttributeSyntax> attributes) {
  AddCopy("dimension_numbers",
          fmt::format("#stablehlo.gather<offset_dims = {}, collapsed_slice_dims = {}, operand_batching_dims = {}, "
                      "start_indices_batching_dims = {}, start_index_map = {}, index_vector_dim = {}>",
                      ListOf(attributes, "offset_dims"), ListOf(attributes, "collapsed_slice_dims"),
                      ListOf(attributes, "operand_batching_dims"), ListOf(attributes, "start_indices_batching_dims"),
                      ListOf(attributes, "start_index_map"), NumberOr(attributes, "index_vector_dim", "0")));
}

void AttributeBuilder::AddScatter(std::span<const AttributeSyntax> attributes) {
  AddCopy(
      "scatter_dimension_numbers",
      fmt::format("#stablehlo.scatter<update_window_dims = {}, inserted_window_dims = {}, input_batching_dims = {}, "
                  "scatter_indices_batching_dims = {}, scatter_dims_to_operand_dims = {}, index_vector_dim = {}>",
                  ListOf(attributes, "update_window_dims"), ListOf(attributes, "inserted_window_dims"),
                  ListOf(attributes, "input_batching_dims"), ListOf(attributes, "scatter_indices_batching_dims"),
                  ListOf(attributes, "scatter_dims_to_operand_dims"), NumberOr(attributes, "index_vector_dim", "0")));
}

// {[0:4], [0:8:2]}
void AttributeBuilder::AddSlice(std::string_view slice) {
  std::vector<int64_t> starts, limits, strides;
  Scanner scan(slice);
  bool good = scan.Take('{');
  while (good && !scan.Take('}')) {
    scan.Take(',');
    scan.SkipBlanks();
    const auto range = scan.peek() == '[' ? Integers(scan.Balanced()) : std::nullopt;
    good = range && (range->size() == 2 || range->size() == 3);
    if (!good) break;
    starts.push_back((*range)[0]);
    limits.push_back((*range)[1]);
    strides.push_back(range->size() == 3 ? (*range)[2] : 1);
  }
  if (!good) return Problem("slice", slice);
  AddCopy("start_indices", ArrayText(starts));
  AddCopy("limit_indices", ArrayText(limits));
  AddCopy("strides", ArrayText(strides));
}

void AttributeBuilder::AddPadding(std::string_view text) {
  const auto padding = ParsePadding(text);
  if (!padding) return Problem("padding", text);
  AddCopy("edge_padding_low", ArrayText(padding->low));
  AddCopy("edge_padding_high", ArrayText(padding->high));
  AddCopy("interior_padding", ArrayText(padding->interior));
}

void AttributeBuilder::AddCollective(std::string_view opcode, const InstructionSyntax& instruction,
                                     std::span<const AttributeSyntax> attributes) {
  if (std::find(std::begin(kGrouped), std::end(kGrouped), opcode) == std::end(kGrouped)) return;
  const std::string_view groups = ValueOf(attributes, "replica_groups");
  if (groups.empty()) Add("replica_groups", "dense<> : tensor<0x0xi64>");
  const std::string_view dimensions = ValueOf(attributes, "dimensions");
  if (opcode != "all-to-all" || dimensions.empty()) return;
  const auto dimension = Integers(dimensions);
  if (!dimension || dimension->size() != 1) return Problem("dimensions", dimensions);
  const int64_t size = groups.empty() ? 0 : GroupSize(groups);
  AddCopy("split_dimension", fmt::format("{} : i64", dimension->front()));
  AddCopy("concat_dimension", fmt::format("{} : i64", dimension->front()));
  if (size > 0) AddCopy("split_count", fmt::format("{} : i64", size));
  (void)instruction;
}

}  // namespace hespas::read::hlo
