// A forward convolution takes the sum after it in, as a side input of the custom call (XLA's CudnnFusedConvRewriter);
// such a call has a bias as well, of zeros.
#include <unordered_set>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class BiasFuser {
 public:
  explicit BiasFuser(Dataflow& flow)
      : flow_(flow), users_(flow.Users()), returned_(flow.outputs.begin(), flow.outputs.end()) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      const auto call = ConvolutionCallOf(flow_, flow_.node(id));
      if (call && call->role == ConvolutionRole::kForward && !HasSideInput(flow_, flow_.node(id)))
        Take(id, call->labels);
    }
    flow_.Normalise();
  }

 private:
  void Take(NodeId id, const ir::ConvolutionDimensions& labels) {
    const ValueId result = flow_.node(id).first_result;
    if (!IsPlainFloat(result) || users_[result.index()].size() != 1 || returned_.contains(result)) return;
    const NodeId sum = users_[result.index()][0];
    if (!MayTake(sum, result)) return;
    const auto& addends = flow_.node(sum).operands;
    const ValueId other = addends[0] == result ? addends[1] : addends[0];
    const ValueId old = flow_.result(sum);
    taken_.insert(sum);
    flow_.Replace(old, Call(id, other, labels.output_feature));
  }

  bool IsPlainFloat(ValueId value) const {
    const ir::Type& type = flow_.type(value);
    return type.is_tensor() && !type.element.complex && type.has_static_shape() &&
           (type.element.kind == ir::ElementKind::kF16 || type.element.kind == ir::ElementKind::kBF16 ||
            type.element.kind == ir::ElementKind::kF32);
  }

  // Nothing that a bias would be, and no sum that another convolution has taken.
  bool MayTake(NodeId sum, ValueId result) const {
    const Node& node = flow_.node(sum);
    if (node.kind != OpKind::kAdd || taken_.contains(sum) || node.operands[0] == node.operands[1]) return false;
    const Node* producer = flow_.ProducerNode(node.operands[0] == result ? node.operands[1] : node.operands[0]);
    return producer == nullptr || (producer->kind != OpKind::kBroadcastInDim && producer->kind != OpKind::kConstant);
  }

  ValueId Call(NodeId convolution, ValueId addend, int64_t feature) {
    ir::Module& source = flow_.source();
    const ir::TypeId type = flow_.type_id(flow_.result(convolution));
    const int64_t features = flow_.type(flow_.result(convolution)).dims[static_cast<size_t>(feature)];
    const ir::TypeId bias_type = TensorLike(source, type, {features});
    const std::string element = ir::ElementText(source.types()[type].element);
    const std::string zeros = "dense<0.000000e+00> : tensor<" + std::to_string(features) + "x" + element + ">";
    const ValueId bias = flow_.result(flow_.Add(
        {.name = "stablehlo.constant", .results = {bias_type}, .attributes = {MakeAttribute(source, "value", zeros)}}));
    const Node& node = flow_.node(convolution);
    std::vector<ir::Attribute> attributes = node.attributes;
    for (ir::Attribute& a : attributes) {
      if (source.name(a.name) == "call_target_name")
        a = MakeAttribute(source, "call_target_name", '"' + std::string(kFusedConvolution) + '"');
    }
    return flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                   .operands = {node.operands[0], node.operands[1], bias, addend},
                                   .results = {type},
                                   .attributes = std::move(attributes),
                                   .origin = node.origin}));
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
  std::unordered_set<NodeId> taken_;
};

}  // namespace

void FuseConvolutionBias(Dataflow& flow, PassContext&) { BiasFuser(flow).Run(); }

}  // namespace hespas::optimise
