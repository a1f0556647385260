#include "ir/attributes/op_attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/attributes/attribute.h"

namespace hespas::ir {
namespace {

// The list behind `name`; empty where absent; nothing where unreadable.
std::optional<Dimensions> ListEntry(const std::vector<Entry>& entries, std::string_view name) {
  const auto text = FindEntry(entries, name);
  if (!text) return Dimensions{};
  return AsIntegers(*text);
}

// Reads entries into the lists and numbers they name. Absent lists stay empty, absent numbers stay as they are.
class EntryReader {
 public:
  explicit EntryReader(std::string_view text) : EntryReader(Entries(text)) {}
  explicit EntryReader(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  EntryReader& List(std::string_view name, Dimensions& out) {
    auto values = ListEntry(entries_, name);
    ok_ = ok_ && values.has_value();
    if (values) out = std::move(*values);
    return *this;
  }
  EntryReader& Number(std::string_view name, int64_t& out) {
    if (const auto text = FindEntry(entries_, name)) {
      const auto value = AsInteger(*text);
      ok_ = ok_ && value.has_value();
      out = value.value_or(out);
    }
    return *this;
  }
  bool ok() const { return ok_; }

 private:
  std::vector<Entry> entries_;
  bool ok_ = true;
};

// "[0] x [1]" of the pretty dot_general.
bool SplitPair(std::string_view text, Dimensions& lhs, Dimensions& rhs) {
  const size_t middle = text.find(']');
  if (middle == std::string_view::npos) return false;
  const std::string_view rest = Trim(text.substr(middle + 1));
  if (!rest.starts_with('x')) return false;
  return DecodeIntegers(text.substr(0, middle + 1), lhs) && DecodeIntegers(rest.substr(1), rhs);
}

std::optional<DotDimensions> PrettyDotDimensions(const Module& module, OpId op) {
  DotDimensions dims;
  const std::string_view* contracting = module.attribute(op, "contracting_dims");
  if (!contracting || !SplitPair(*contracting, dims.lhs_contracting, dims.rhs_contracting)) return std::nullopt;
  const std::string_view* batching = module.attribute(op, "batching_dims");
  if (batching && !SplitPair(*batching, dims.lhs_batching, dims.rhs_batching)) return std::nullopt;
  return dims;
}

std::optional<DotDimensions> PlainDotDimensions(const Module& module, OpId op) {
  const auto operands = module.operands(op);
  if (operands.size() < 2) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(module.type(operands[0]).dims.size());
  if (rank == 0) return std::nullopt;
  return DotDimensions{.lhs_contracting = {rank - 1}, .rhs_contracting = {0}};
}

// One of the three label lists of a convolution: two letters and the spatial digits, e.g. {"b", "0", "1", "f"}.
struct Labels {
  int64_t first = -1;   // b, i
  int64_t second = -1;  // f, o
  Dimensions spatial;
};

std::optional<Labels> ReadLabels(const std::vector<std::string_view>& items, char first, char second) {
  Labels labels;
  labels.spatial.assign(items.size() >= 2 ? items.size() - 2 : 0, -1);
  int64_t position = 0;
  for (const std::string_view item : items) {
    if (item.size() == 1 && item[0] == first && labels.first < 0) {
      labels.first = position;
    } else if (item.size() == 1 && item[0] == second && labels.second < 0) {
      labels.second = position;
    } else {
      const auto index = AsInteger(item);
      if (!index || *index < 0 || *index >= static_cast<int64_t>(labels.spatial.size())) return std::nullopt;
      int64_t& slot = labels.spatial[static_cast<size_t>(*index)];
      if (slot >= 0) return std::nullopt;
      slot = position;
    }
    ++position;
  }
  if (labels.first < 0 || labels.second < 0) return std::nullopt;
  return labels;
}

// "[b, 0, 1, f]" in brackets, or "b01f" letter by letter.
std::vector<std::string_view> LabelItems(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('[')) return ListItems(text);
  std::vector<std::string_view> items;
  items.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) items.push_back(text.substr(i, 1));
  return items;
}

std::optional<ConvolutionDimensions> RawConvolutionDimensions(std::string_view text) {
  ConvolutionDimensions dims;
  EntryReader reader(text);
  reader.Number("input_batch_dimension", dims.input_batch)
      .Number("input_feature_dimension", dims.input_feature)
      .List("input_spatial_dimensions", dims.input_spatial)
      .Number("kernel_input_feature_dimension", dims.kernel_input_feature)
      .Number("kernel_output_feature_dimension", dims.kernel_output_feature)
      .List("kernel_spatial_dimensions", dims.kernel_spatial)
      .Number("output_batch_dimension", dims.output_batch)
      .Number("output_feature_dimension", dims.output_feature)
      .List("output_spatial_dimensions", dims.output_spatial);
  return reader.ok() ? std::optional(dims) : std::nullopt;
}

// A window attribute under its own name, or its value inside a single `window = {...}`.
std::optional<std::string_view> WindowText(const Module& module, OpId op, std::string_view name,
                                           std::string_view short_name) {
  if (const std::string_view* text = module.attribute(op, name)) return *text;
  if (const std::string_view* window = module.attribute(op, "window")) return FindEntry(Entries(*window), short_name);
  return std::nullopt;
}

// Sets one member of every window dimension from a list; false where the list does not fit.
bool SetMember(std::optional<std::string_view> text, Window& window, int64_t WindowDimension::*member) {
  if (!text) return true;
  const auto values = AsIntegers(*text);
  if (!values || values->size() != window.size()) return false;
  for (size_t i = 0; i < window.size(); ++i) window[i].*member = (*values)[i];
  return true;
}

bool SetPadding(std::optional<std::string_view> text, Window& window) {
  if (!text) return true;
  const auto values = AsIntegers(*text);
  if (!values || values->size() != 2 * window.size()) return false;
  for (size_t i = 0; i < window.size(); ++i) {
    window[i].padding_low = (*values)[2 * i];
    window[i].padding_high = (*values)[2 * i + 1];
  }
  return true;
}

// Window sizes: given, or the kernel's spatial dimensions.
bool SetSizes(const Module& module, OpId op, Window& window) {
  Dimensions sizes;
  if (module.kind(op) == OpKind::kConvolution || module.kind(op) == OpKind::kDynamicConv) {
    const auto dims = ConvolutionDimensionsOf(module, op);
    if (!dims || module.operands(op).size() < 2) return false;
    const Type& kernel = module.type(module.operands(op)[1]);
    for (const int64_t d : dims->kernel_spatial) {
      if (d < 0 || d >= static_cast<int64_t>(kernel.dims.size())) return false;
      sizes.push_back(kernel.dims[static_cast<size_t>(d)]);
    }
  } else {
    const auto given = WindowText(module, op, "window_dimensions", "size");
    // select_and_scatter may leave its window out: one element of each dimension.
    if (!given && !module.operands(op).empty()) sizes.assign(module.type(module.operands(op)[0]).dims.size(), 1);
    if (given && !DecodeIntegers(*given, sizes)) return false;
  }
  window.resize(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) window[i].size = sizes[i];
  return true;
}

}  // namespace

std::optional<int64_t> IntegerAttribute(const Module& module, OpId op, std::string_view name) {
  const std::string_view* text = module.attribute(op, name);
  return text ? AsInteger(*text) : std::nullopt;
}

std::optional<Dimensions> IntegersAttribute(const Module& module, OpId op, std::string_view name) {
  const std::string_view* text = module.attribute(op, name);
  return text ? AsIntegers(*text) : std::nullopt;
}

std::optional<DotDimensions> DotDimensionsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "dot_dimension_numbers");
  if (!text && module.kind(op) == OpKind::kDot) return PlainDotDimensions(module, op);
  if (!text) return PrettyDotDimensions(module, op);
  // ragged_dot nests the plain numbers as `dot_dimension_numbers = <...>`.
  std::vector<Entry> entries = Entries(*text);
  if (const auto nested = FindEntry(entries, "dot_dimension_numbers")) entries = Entries(*nested);
  DotDimensions dims;
  EntryReader reader(std::move(entries));
  reader.List("lhs_batching_dimensions", dims.lhs_batching)
      .List("rhs_batching_dimensions", dims.rhs_batching)
      .List("lhs_contracting_dimensions", dims.lhs_contracting)
      .List("rhs_contracting_dimensions", dims.rhs_contracting);
  return reader.ok() ? std::optional(dims) : std::nullopt;
}

std::string DotDimensionsText(const DotDimensions& dot) {
  return fmt::format(
      "#stablehlo.dot<lhs_batching_dimensions = [{}], rhs_batching_dimensions = [{}], lhs_contracting_dimensions = "
      "[{}], rhs_contracting_dimensions = [{}]>",
      fmt::join(dot.lhs_batching, ", "), fmt::join(dot.rhs_batching, ", "), fmt::join(dot.lhs_contracting, ", "),
      fmt::join(dot.rhs_contracting, ", "));
}

std::optional<ConvolutionDimensions> AsConvolutionDimensions(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('#') || text.starts_with('<')) {
    const size_t open = text.find('<');
    const size_t close = text.rfind('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
    text = Trim(text.substr(open + 1, close - open - 1));
  }
  if (text.starts_with("raw")) return RawConvolutionDimensions(text.substr(3));
  if (text.starts_with("input_") || text.starts_with("{")) return RawConvolutionDimensions(text);
  const bool brackets = text.starts_with('[');
  const size_t cross = text.find(brackets ? "x" : "_");
  const size_t arrow = text.find("->");
  if (cross == std::string_view::npos || arrow == std::string_view::npos || arrow < cross) return std::nullopt;
  auto input = ReadLabels(LabelItems(text.substr(0, cross)), 'b', 'f');
  auto kernel = ReadLabels(LabelItems(text.substr(cross + 1, arrow - cross - 1)), 'i', 'o');
  auto output = ReadLabels(LabelItems(text.substr(arrow + 2)), 'b', 'f');
  if (!input || !kernel || !output) return std::nullopt;
  return ConvolutionDimensions{.input_batch = input->first,
                               .input_feature = input->second,
                               .input_spatial = std::move(input->spatial),
                               .kernel_input_feature = kernel->first,
                               .kernel_output_feature = kernel->second,
                               .kernel_spatial = std::move(kernel->spatial),
                               .output_batch = output->first,
                               .output_feature = output->second,
                               .output_spatial = std::move(output->spatial)};
}

std::optional<ConvolutionDimensions> ConvolutionDimensionsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "dimension_numbers");
  if (!text) text = module.attribute(op, "dim_numbers");
  if (!text) return std::nullopt;
  auto dims = AsConvolutionDimensions(*text);
  if (!dims) return std::nullopt;
  dims->feature_group_count = IntegerAttribute(module, op, "feature_group_count").value_or(1);
  dims->batch_group_count = IntegerAttribute(module, op, "batch_group_count").value_or(1);
  return dims;
}

std::optional<Window> WindowOf(const Module& module, OpId op) {
  const bool convolution = module.kind(op) == OpKind::kConvolution || module.kind(op) == OpKind::kDynamicConv;
  Window window;
  if (!SetSizes(module, op, window)) return std::nullopt;
  const auto text = [&](std::string_view name, std::string_view short_name) {
    return WindowText(module, op, name, short_name);
  };
  const std::string_view base = convolution ? "lhs_dilation" : "base_dilations";
  const std::string_view dilation = convolution ? "rhs_dilation" : "window_dilations";
  bool ok = SetMember(text("window_strides", "stride"), window, &WindowDimension::stride) &&
            SetMember(text(base, "lhs_dilate"), window, &WindowDimension::base_dilation) &&
            SetMember(text(dilation, "rhs_dilate"), window, &WindowDimension::window_dilation) &&
            SetPadding(text("padding", "pad"), window);
  if (const auto reversal = text("window_reversal", "reverse"); ok && reversal) {
    const auto values = AsIntegers(*reversal);
    ok = values && values->size() == window.size();
    for (size_t i = 0; ok && i < window.size(); ++i) window[i].reversed = (*values)[i] != 0;
  }
  return ok ? std::optional(std::move(window)) : std::nullopt;
}

std::optional<GatherDimensions> GatherDimensionsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "dimension_numbers");
  if (!text) return std::nullopt;
  GatherDimensions dims;
  EntryReader reader(*text);
  reader.List("offset_dims", dims.offset)
      .List("collapsed_slice_dims", dims.collapsed_slice)
      .List("operand_batching_dims", dims.operand_batching)
      .List("start_indices_batching_dims", dims.start_indices_batching)
      .List("start_index_map", dims.start_index_map)
      .Number("index_vector_dim", dims.index_vector);
  const std::string_view* sizes = module.attribute(op, "slice_sizes");
  if (!reader.ok() || (sizes && !DecodeIntegers(*sizes, dims.slice_sizes))) return std::nullopt;
  return dims;
}

std::optional<ScatterDimensions> ScatterDimensionsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "scatter_dimension_numbers");
  if (!text) return std::nullopt;
  ScatterDimensions dims;
  EntryReader reader(*text);
  reader.List("update_window_dims", dims.update_window)
      .List("inserted_window_dims", dims.inserted_window)
      .List("input_batching_dims", dims.input_batching)
      .List("scatter_indices_batching_dims", dims.scatter_indices_batching)
      .List("scatter_dims_to_operand_dims", dims.scatter_to_operand)
      .Number("index_vector_dim", dims.index_vector);
  return reader.ok() ? std::optional(std::move(dims)) : std::nullopt;
}

std::optional<SliceBounds> SliceBoundsOf(const Module& module, OpId op) {
  auto start = IntegersAttribute(module, op, "start_indices");
  auto limit = IntegersAttribute(module, op, "limit_indices");
  if (!start || !limit) return std::nullopt;
  auto strides = IntegersAttribute(module, op, "strides");
  if (!strides) strides.emplace(start->size(), 1);
  return SliceBounds{std::move(*start), std::move(*limit), std::move(*strides)};
}

}  // namespace hespas::ir
