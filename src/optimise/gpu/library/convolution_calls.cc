// Convolutions as calls of cuDNN, which has kernels for both gradients (XLA's ConvRewriter): a filter
// that was reversed for the gradient of an input is given as it is.
#include <fmt/format.h>

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Rewriter {
 public:
  explicit Rewriter(Dataflow& flow) : flow_(flow) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == OpKind::kConvolution) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    const std::string_view* text = flow_.attribute(node, "dimension_numbers");
    const auto labels = text == nullptr ? std::nullopt : ir::AsConvolutionDimensions(*text);
    if (!labels || !IsForCudnn(node, *labels)) return;
    ValueId filter = node.operands[1];
    ConvolutionRole role = ConvolutionRole::kForward;
    const bool grouped = IsGrouped(node, "feature_group_count");
    if (!grouped && IsFilterGradient(node, *labels)) {
      role = ConvolutionRole::kFilterGradient;
    } else if (IsGrouped(node, "batch_group_count")) {
      return;
    } else if (const ValueId straight = FilterOfInputGradient(node, *labels); !grouped && straight.valid()) {
      role = ConvolutionRole::kInputGradient;
      filter = straight;
    }
    const ValueId old = node.first_result;  // calls add nodes, which may move this one
    flow_.Replace(old, Call(id, role, filter, *labels));
  }

  bool IsForCudnn(const Node& node, const ir::ConvolutionDimensions& labels) const {
    const ir::Type& type = flow_.type(node.first_result);
    const size_t places = labels.input_spatial.size();
    const auto reversal = flow_.attribute(node, "window_reversal");
    return node.own_operand_count() == 2 && node.result_count == 1 && type.has_static_shape() &&
           !type.element.complex && places >= 1 && places <= 3 && AreOrders(labels, type.dims.size()) &&
           (reversal == nullptr || reversal->find("true") == std::string_view::npos);
  }

  bool IsGrouped(const Node& node, std::string_view by) const { return IntegerOf(flow_, node, by).value_or(1) > 1; }

  bool IsDilated(const Node& node, std::string_view name) const {
    const auto dilation = IntegersOf(flow_, node, name);
    return dilation && std::any_of(dilation->begin(), dilation->end(), [](int64_t d) { return d > 1; });
  }

  // By something dilated, or by something larger than its result in each place (MatchBackwardFilter).
  bool IsFilterGradient(const Node& node, const ir::ConvolutionDimensions& labels) const {
    if (IsDilated(node, "rhs_dilation")) return true;
    const Dimensions& kernel = flow_.type(node.operands[1]).dims;
    const Dimensions& result = flow_.type(node.first_result).dims;
    for (size_t i = 0; i < labels.kernel_spatial.size(); ++i) {
      if (kernel[static_cast<size_t>(labels.kernel_spatial[i])] <=
          result[static_cast<size_t>(labels.output_spatial[i])])
        return false;
    }
    return true;
  }

  // Of something dilated, or by a filter reversed; one of a single place is the same either way.
  ValueId FilterOfInputGradient(const Node& node, const ir::ConvolutionDimensions& labels) const {
    const ValueId filter = node.operands[1];
    const bool wide = std::any_of(labels.kernel_spatial.begin(), labels.kernel_spatial.end(),
                                  [&](int64_t d) { return flow_.type(filter).dims[static_cast<size_t>(d)] > 1; });
    if (!wide) return IsDilated(node, "lhs_dilation") ? Straight(filter, labels, filter) : ValueId();
    return Straight(filter, labels, ValueId());
  }

  // The filter before it was reversed; `otherwise` where it was not.
  ValueId Straight(ValueId filter, const ir::ConvolutionDimensions& labels, ValueId otherwise) const {
    const Node* producer = flow_.ProducerNode(filter);
    if (producer == nullptr || producer->kind != OpKind::kReverse) return otherwise;
    auto transposed = IntegersOf(flow_, *producer, "dimensions");
    Dimensions spatial = labels.kernel_spatial;
    if (!transposed) return otherwise;
    std::sort(transposed->begin(), transposed->end());
    std::sort(spatial.begin(), spatial.end());
    return *transposed == spatial ? producer->operands[0] : otherwise;
  }

  // What is added around and between the input's elements before the call; all else cuDNN does.
  struct Padding {
    Dimensions low, high, interior;  // of the input's dimensions
    ir::IntegerMatrix left;          // to cuDNN
    bool is_needed = false;
  };

  // cuDNN pads both sides alike and dilates no input. A forward convolution that needs more reads a padded input, the
  // gradient of a filter one with the larger side's surplus (XLA's ConvPaddingLegalization,
  // conv_padding_legalization.cc).
  Padding PaddingOf(const Node& node, ConvolutionRole role, const ir::ConvolutionDimensions& labels) const {
    const size_t rank = flow_.type(node.operands[0]).dims.size();
    const size_t places = labels.input_spatial.size();
    Padding made{.low = Dimensions(rank, 0), .high = Dimensions(rank, 0), .interior = Dimensions(rank, 0), .left = {}};
    const std::string_view* text = flow_.attribute(node, "padding");
    const auto padding = text == nullptr ? std::nullopt : ir::AsIntegerMatrix(*text);
    const auto dilation = IntegersOf(flow_, node, "lhs_dilation");
    const bool forward = role == ConvolutionRole::kForward;
    if (role == ConvolutionRole::kInputGradient || (padding && padding->values.size() != 2 * places)) return made;
    made.left = padding.value_or(ir::IntegerMatrix{static_cast<int64_t>(places), 2, Dimensions(2 * places, 0)});
    for (size_t i = 0; i < places; ++i) {
      const int64_t low = made.left.values[2 * i];
      const int64_t high = made.left.values[2 * i + 1];
      const int64_t between = dilation && i < dilation->size() ? (*dilation)[i] - 1 : 0;
      made.is_needed = made.is_needed || low != high || (forward && (low < 0 || between > 0));
      if (!forward && (low < 0 || high < 0)) return {};
    }
    for (size_t i = 0; i < places; ++i) {
      const auto d = static_cast<size_t>(labels.input_spatial[i]);
      int64_t& low = made.left.values[2 * i];
      int64_t& high = made.left.values[2 * i + 1];
      const int64_t kept = forward ? 0 : std::min(low, high);
      made.low[d] = low - kept;
      made.high[d] = high - kept;
      if (forward && dilation && i < dilation->size()) made.interior[d] = (*dilation)[i] - 1;
      low = high = kept;
    }
    return made;
  }

  ValueId Padded(ValueId input, const Padding& padding) {
    ir::Module& source = flow_.source();
    Dimensions dims = flow_.type(input).dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      dims[d] += padding.low[d] + padding.high[d] + padding.interior[d] * std::max<int64_t>(0, dims[d] - 1);
    }
    const ValueId value = Zeros(flow_, TensorLike(source, flow_.type_id(input), {}));
    return flow_.result(
        flow_.Add({.name = "stablehlo.pad",
                   .operands = {input, value},
                   .results = {TensorLike(source, flow_.type_id(input), std::move(dims))},
                   .attributes = {MakeAttribute(source, "edge_padding_low", ArrayText(padding.low)),
                                  MakeAttribute(source, "edge_padding_high", ArrayText(padding.high)),
                                  MakeAttribute(source, "interior_padding", ArrayText(padding.interior))}}));
  }

  static std::string PaddingText(const ir::IntegerMatrix& padding) {
    std::string rows;
    for (int64_t r = 0; r < padding.rows; ++r) {
      rows += fmt::format("{}[{}, {}]", r == 0 ? "" : ", ", padding.at(r, 0), padding.at(r, 1));
    }
    return fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, padding.rows);
  }

  ValueId Call(NodeId id, ConvolutionRole role, ValueId filter, const ir::ConvolutionDimensions& labels) {
    ir::Module& source = flow_.source();
    const ir::ElementKind kind = flow_.type(flow_.node(id).operands[0]).element.kind;
    const bool is_float = kind >= ir::ElementKind::kF64 && kind <= ir::ElementKind::kBF16;
    const Padding padding = is_float ? PaddingOf(flow_.node(id), role, labels) : Padding();
    ValueId input = flow_.node(id).operands[0];
    if (padding.is_needed) input = Padded(input, padding);
    const Node& node = flow_.node(id);
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : node.attributes) {
      const std::string_view name = source.name(attribute.name);
      const bool made_before = padding.is_needed && (name == "padding" || name == "lhs_dilation");
      if (name != "dimension_numbers" && name != "window_reversal" && !made_before) attributes.push_back(attribute);
    }
    if (padding.is_needed) attributes.push_back(MakeAttribute(source, "padding", PaddingText(padding.left)));
    attributes.push_back(LabelsAttribute(source, ExchangeLabels(role, labels)));
    attributes.push_back(MakeAttribute(source, "call_target_name", '"' + std::string(TargetOf(role)) + '"'));
    return flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                   .operands = {input, filter},
                                   .results = {flow_.type_id(node.first_result)},
                                   .attributes = std::move(attributes),
                                   .origin = node.origin}));
  }

  Dataflow& flow_;
};

}  // namespace

void CallConvolutions(Dataflow& flow, PassContext&) { Rewriter(flow).Run(); }

}  // namespace hespas::optimise
