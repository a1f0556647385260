// The orders of dimensions that cuDNN runs fast (XLA's GpuLayoutAssignment, HeuristicLayoutAssignment): in convolutions
// over two dimensions features come last, of 16 bits from Volta on, of f32 from Hopper on; anywhere else before the
// places; output features of a filter first. In XLA this is a layout that propagates; here transposes stand around the
// call, and sink.
#include <algorithm>
#include <climits>
#include <numeric>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

constexpr size_t kAddend = 3;  // operand of a call that takes a sum in

class LayoutAssigner {
 public:
  LayoutAssigner(Dataflow& flow, const PassContext& context) : flow_(flow), capability_(context.gpu.capability) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (const auto call = ConvolutionCallOf(flow_, flow_.node(id))) Assign(id, *call);
    }
    flow_.Normalise();
  }

 private:
  bool FeaturesLast(const Node& node, size_t places) const {
    const ir::Type& type = flow_.type(node.first_result);
    const bool is_f32 = type.element.kind == ir::ElementKind::kF32;
    const int first = ir::ElementBits(type.element) == 16 ? gpu_rules::kVolta : is_f32 ? gpu_rules::kHopper : INT_MAX;
    return places == 2 && capability_ >= first;
  }

  // The array's dimensions in the wanted order: `first`, then features at one end of the places.
  static Dimensions Wanted(int64_t first, int64_t features, const Dimensions& places, bool last) {
    if (last) return OrderOf(first, places, features);
    Dimensions order = {first, features};
    order.insert(order.end(), places.begin(), places.end());
    return order;
  }

  static bool IsInOrder(const Dimensions& order) { return std::is_sorted(order.begin(), order.end()); }

  void Assign(NodeId id, const ConvolutionCall& call) {
    const ir::ConvolutionDimensions& labels = call.labels;
    const bool last = FeaturesLast(flow_.node(id), labels.input_spatial.size());
    const Dimensions input = Wanted(labels.input_batch, labels.input_feature, labels.input_spatial, last);
    const Dimensions kernel =
        Wanted(labels.kernel_output_feature, labels.kernel_input_feature, labels.kernel_spatial, last);
    const Dimensions output = Wanted(labels.output_batch, labels.output_feature, labels.output_spatial, last);
    if (IsInOrder(input) && IsInOrder(kernel) && IsInOrder(output)) return;
    Node made = flow_.Copy(id);
    Dimensions result;
    const auto transpose = [&](size_t array, const Dimensions& order) {
      if (array == ConvolutionCall::kResult) {
        result = order;
      } else if (!IsInOrder(order)) {
        made.operands[array] = Transpose(flow_, made.operands[array], order);
      }
    };
    transpose(call.input(), input);
    transpose(call.kernel(), kernel);
    transpose(call.output(), output);
    if (HasSideInput(flow_, flow_.node(id))) transpose(kAddend, output);
    Relabel(made, labels.input_spatial.size(), last);
    const ValueId old = flow_.result(id);
    Dimensions dims;
    for (const int64_t d : result) dims.push_back(flow_.type(old).dims[static_cast<size_t>(d)]);
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(old), std::move(dims))};
    const ValueId out = flow_.result(flow_.Add(std::move(made), types));
    flow_.Replace(old, IsInOrder(result) ? out : Transpose(flow_, out, Inverse(result)));
  }

  void Relabel(Node& call, size_t places, bool last) {
    const int64_t features = last ? static_cast<int64_t>(places) + 1 : 1;
    Dimensions spatial(places);
    std::iota(spatial.begin(), spatial.end(), last ? 1 : 2);
    const ir::ConvolutionDimensions labels{.input_batch = 0,
                                           .input_feature = features,
                                           .input_spatial = spatial,
                                           .kernel_input_feature = features,
                                           .kernel_output_feature = 0,
                                           .kernel_spatial = spatial,
                                           .output_batch = 0,
                                           .output_feature = features,
                                           .output_spatial = spatial};
    for (ir::Attribute& a : call.attributes) {
      if (flow_.source().name(a.name) == "dimension_numbers") a = LabelsAttribute(flow_.source(), labels);
    }
  }

  Dataflow& flow_;
  int capability_;
};

}  // namespace

void AssignConvolutionLayouts(Dataflow& flow, PassContext& context) { LayoutAssigner(flow, context).Run(); }

}  // namespace hespas::optimise
