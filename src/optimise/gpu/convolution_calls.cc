// Convolutions as calls of cuDNN, which has kernels for both gradients (XLA's ConvRewriter): a filter
// that was reversed for the gradient of an input is given as it is.
#include <algorithm>

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
    flow_.Replace(node.first_result, Call(id, role, filter, *labels));
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

  ValueId Call(NodeId id, ConvolutionRole role, ValueId filter, const ir::ConvolutionDimensions& labels) {
    ir::Module& source = flow_.source();
    const Node& node = flow_.node(id);
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : node.attributes) {
      const std::string_view name = source.name(attribute.name);
      if (name != "dimension_numbers" && name != "window_reversal") attributes.push_back(attribute);
    }
    attributes.push_back(LabelsAttribute(source, ExchangeLabels(role, labels)));
    attributes.push_back(MakeAttribute(source, "call_target_name", '"' + std::string(TargetOf(role)) + '"'));
    return flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                   .operands = {node.operands[0], filter},
                                   .results = {flow_.type_id(node.first_result)},
                                   .attributes = std::move(attributes),
                                   .origin = node.origin}));
  }

  Dataflow& flow_;
};

}  // namespace

void CallConvolutions(Dataflow& flow, PassContext&) { Rewriter(flow).Run(); }

}  // namespace hespas::optimise
