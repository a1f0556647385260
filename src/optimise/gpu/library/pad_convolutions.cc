// Convolutions of f16 get as many features as cuDNN's tensor-core kernels want (XLA's CudnnPadForConvolutions): zeros
// are added to what is read, and what they make is cut off.
#include <algorithm>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

class Padder {
 public:
  Padder(Dataflow& flow, NodeId id) : flow_(flow), id_(id) {}

  void Run(const ConvolutionCall& call) {
    const Node& node = flow_.node(id_);
    if (IntegerOf(flow_, node, "feature_group_count").value_or(1) > 1 || HasSideInput(flow_, node)) return;
    for (const ValueId value : {node.operands[0], node.operands[1], node.first_result}) {
      const ir::Type& type = flow_.type(value);
      if (type.element.kind != ir::ElementKind::kF16 || type.element.complex || !type.has_static_shape()) return;
    }
    const ir::ConvolutionDimensions& labels = call.labels;
    const Dimensions& kernel = flow_.type(ArrayOf(call.kernel())).dims;
    int64_t in = kernel[static_cast<size_t>(labels.kernel_input_feature)];
    int64_t out = kernel[static_cast<size_t>(labels.kernel_output_feature)];
    if (in <= 0 || out <= 0 || !Widen(in, out)) return;
    made_ = flow_.Copy(id_);
    result_ = flow_.type(node.first_result).dims;
    Set(call.input(), labels.input_feature, in);
    Set(call.kernel(), labels.kernel_input_feature, in);
    Set(call.kernel(), labels.kernel_output_feature, out);
    Set(call.output(), labels.output_feature, out);
    const ValueId old = flow_.result(id_);
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(old), std::move(result_))};
    flow_.Replace(old, Cut(flow_.result(flow_.Add(std::move(made_), types)), flow_.type(old).dims));
  }

 private:
  // Sets the wanted numbers of features; false where they stand already, or a buffer would grow too much.
  static bool Widen(int64_t& in, int64_t& out) {
    if (in == gpu_rules::kColours && (out == 32 || out == 64)) {
      in = gpu_rules::kPaddedColours;
      return true;
    }
    const auto up = [](int64_t n) {
      return (n + gpu_rules::kFeatureMultiple - 1) / gpu_rules::kFeatureMultiple * gpu_rules::kFeatureMultiple;
    };
    const auto growth = [&](int64_t n) { return static_cast<double>(up(n)) / static_cast<double>(n); };
    if (growth(in) * growth(out) > gpu_rules::kPaddedGrowth) return false;  // the filter holds both
    const bool changes = up(in) != in || up(out) != out;
    in = up(in);
    out = up(out);
    return changes;
  }

  ValueId ArrayOf(size_t array) const {
    const Node& node = flow_.node(id_);
    return array == ConvolutionCall::kResult ? node.first_result : node.operands[array];
  }

  void Set(size_t array, int64_t dimension, int64_t size) {
    if (array == ConvolutionCall::kResult) {
      result_[static_cast<size_t>(dimension)] = size;
    } else {
      made_.operands[array] = Padded(made_.operands[array], dimension, size);
    }
  }

  ValueId Padded(ValueId value, int64_t dimension, int64_t size) {
    Dimensions dims = flow_.type(value).dims;
    if (dims[static_cast<size_t>(dimension)] == size) return value;
    dims[static_cast<size_t>(dimension)] = size;
    const ValueId zero = Zeros(flow_, TensorLike(flow_.source(), flow_.type_id(value), {}));
    return PadTo(flow_, value, zero, std::move(dims));
  }

  // `dims` by value: slices add types, which may move those there are.
  ValueId Cut(ValueId value, Dimensions dims) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (flow_.type(value).dims[d] != dims[d]) value = SliceOf(flow_, value, d, 0, dims[d]);
    }
    return value;
  }

  Dataflow& flow_;
  NodeId id_;
  Node made_;
  Dimensions result_;
};

}  // namespace

void PadConvolutions(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (const auto call = ConvolutionCallOf(flow, flow.node(id))) Padder(flow, id).Run(*call);
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
