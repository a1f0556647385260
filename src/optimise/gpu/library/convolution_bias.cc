// A forward convolution takes in the sums and the ReLU after it, as bias, side input and activation of the custom call
// (XLA's CudnnFusedConvRewriter; docs/spec/xla-gpu.md, section 5).
#include <unordered_set>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class BiasFuser {
 public:
  explicit BiasFuser(Dataflow& flow) : flow_(flow) {}

  // A bias and a side input, in the order of the program; then the activation.
  void Run() {
    ForEach(OpKind::kAdd, &BiasFuser::TakeSum);
    ForEach(OpKind::kAdd, &BiasFuser::TakeSum);
    ForEach(OpKind::kMaximum, &BiasFuser::TakeRelu);
  }

 private:
  void ForEach(OpKind kind, void (BiasFuser::*take)(NodeId)) {
    users_ = flow_.Users();
    returned_ = {flow_.outputs.begin(), flow_.outputs.end()};
    taken_.clear();
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == kind) (this->*take)(id);
    }
    flow_.Normalise();
  }

  // The forward convolution whose result only this op reads, at `operand`.
  NodeId ConvolutionAt(NodeId id, size_t operand) const {
    const ValueId value = flow_.node(id).operands[operand];
    const NodeId made = flow_.producer(value);
    if (!made.valid() || taken_.contains(made) || returned_.contains(value) || users_[value.index()].size() != 1)
      return NodeId();
    const auto call = ConvolutionCallOf(flow_, flow_.node(made));
    if (!call || call->role != ConvolutionRole::kForward || !IsPlainFloat(value)) return NodeId();
    return IsDepthwise(flow_.node(made), call->labels) || IsActivated(flow_, flow_.node(made)) ? NodeId() : made;
  }

  bool IsDepthwise(const Node& call, const ir::ConvolutionDimensions& labels) const {
    const int64_t groups = IntegerOf(flow_, call, "feature_group_count").value_or(1);
    return groups > 1 && groups == flow_.type(call.operands[0]).dims[static_cast<size_t>(labels.input_feature)];
  }

  bool IsPlainFloat(ValueId value) const {
    const ir::Type& type = flow_.type(value);
    return type.is_tensor() && !type.element.complex && type.has_static_shape() &&
           (type.element.kind == ir::ElementKind::kF16 || type.element.kind == ir::ElementKind::kBF16 ||
            type.element.kind == ir::ElementKind::kF32);
  }

  void TakeSum(NodeId sum) {
    const std::vector<ValueId> addends = flow_.node(sum).operands;
    if (addends[0] == addends[1]) return;
    for (const size_t at : {size_t{0}, size_t{1}}) {
      const NodeId convolution = ConvolutionAt(sum, at);
      if (!convolution.valid()) continue;
      const Node& node = flow_.node(convolution);
      std::vector<ValueId> operands = node.operands;
      const ValueId bias = HasBias(flow_, node) ? ValueId() : AsBias(addends[1 - at], convolution);
      if (operands.size() == 2) operands.push_back(bias.valid() ? bias : Zeros(flow_, BiasType(convolution)));
      if (bias.valid()) {
        operands[2] = bias;
      } else if (!HasSideInput(flow_, node)) {
        operands.push_back(addends[1 - at]);
      } else {
        continue;
      }
      return Replace(sum, convolution, operands, kNoActivation);
    }
  }

  void TakeRelu(NodeId maximum) {
    for (const size_t at : {size_t{0}, size_t{1}}) {
      const NodeId convolution = ConvolutionAt(maximum, at);
      if (!convolution.valid() || NumberOf(flow_, flow_.node(maximum).operands[1 - at]) != 0.0) continue;
      std::vector<ValueId> operands = flow_.node(convolution).operands;
      if (operands.size() == 2) operands.push_back(Zeros(flow_, BiasType(convolution)));
      return Replace(maximum, convolution, operands, kRelu);
    }
  }

  // A vector of the convolution's features, or a number, that is broadcast.
  ValueId AsBias(ValueId addend, NodeId convolution) {
    const Node* node = flow_.ProducerNode(addend);
    if (node == nullptr || node->kind != OpKind::kBroadcastInDim) return ValueId();
    const auto to = IntegersOf(flow_, *node, "broadcast_dimensions");
    const ValueId vector = node->operands[0];
    const Dimensions& dims = flow_.type(vector).dims;
    const int64_t feature = ConvolutionCallOf(flow_, flow_.node(convolution))->labels.output_feature;
    if (!to || to->size() != dims.size()) return ValueId();
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != 1 && (*to)[i] != feature) return ValueId();
    }
    const ir::TypeId type = BiasType(convolution);
    if (Product(dims) == flow_.source().types()[type].dims[0]) return ReshapeTo(flow_, vector, type);
    return BroadcastInDim(flow_, Reshape(flow_, vector, {}), type, {});
  }

  ir::TypeId BiasType(NodeId convolution) {
    const ValueId result = flow_.result(convolution);
    const int64_t feature = ConvolutionCallOf(flow_, flow_.node(convolution))->labels.output_feature;
    return TensorLike(flow_.source(), flow_.type_id(result), {flow_.type(result).dims[static_cast<size_t>(feature)]});
  }

  void Replace(NodeId last, NodeId convolution, const std::vector<ValueId>& operands, std::string_view activation) {
    ir::Module& source = flow_.source();
    const Node& node = flow_.node(convolution);
    std::vector<ir::Attribute> attributes = node.attributes;
    std::erase_if(attributes, [&](const ir::Attribute& a) {
      const std::string_view name = source.name(a.name);
      return name == "call_target_name" || name == "backend_config";
    });
    attributes.push_back(MakeAttribute(source, "call_target_name", '"' + std::string(kFusedConvolution) + '"'));
    attributes.push_back(MakeAttribute(source, "backend_config", std::string(activation)));
    const ValueId old = flow_.result(last);
    taken_.insert(convolution);
    flow_.Replace(old, flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                               .operands = operands,
                                               .results = {flow_.type_id(old)},
                                               .attributes = std::move(attributes),
                                               .origin = node.origin})));
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
  std::unordered_set<NodeId> taken_;  // in this round
};

}  // namespace

void FuseConvolutionBias(Dataflow& flow, PassContext&) { BiasFuser(flow).Run(); }

}  // namespace hespas::optimise
