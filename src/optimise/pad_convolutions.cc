// Convolutions of f16 get as many features as cuDNN's tensor-core kernels want (XLA's CudnnPadForConvolutions): zeros
// are added to what is read, and what they make is cut off.
#include <algorithm>

#include "ir/op_attributes.h"
#include "optimise/build.h"
#include "optimise/convolution_role.h"
#include "optimise/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr int64_t kFactor = 8;    // features come in multiples
constexpr double kGrowth = 1.35;  // of no buffer more than this
constexpr int64_t kColours = 3;   // of an image: before 32 or 64 features they become
constexpr int64_t kPaddedColours = 4;

// The dimensions that hold input and output features, named as in the forward convolution; -1 where there is none.
struct Places {
  int64_t lhs_in;
  int64_t rhs_in;
  int64_t rhs_out;
  int64_t result_in;
  int64_t result_out;
};

class Padder {
 public:
  Padder(Dataflow& flow, NodeId id) : flow_(flow), id_(id) {}

  void Run() {
    const Node& node = flow_.node(id_);
    const std::string_view* text = flow_.attribute(node, "dimension_numbers");
    const auto numbers = text == nullptr ? std::nullopt : ir::AsConvolutionDimensions(*text);
    const bool grouped = IntegerOf(flow_, node, "feature_group_count").value_or(1) > 1 ||
                         IntegerOf(flow_, node, "batch_group_count").value_or(1) > 1;
    if (!numbers || grouped || node.own_operand_count() != 2 || node.result_count != 1) return;
    const WireId result = node.first_result;
    const WireId lhs = node.operands[0];
    const WireId rhs = node.operands[1];
    for (const WireId wire : {lhs, rhs, result}) {
      const ir::Type& type = flow_.type(wire);
      if (type.element.kind != ir::ElementKind::kF16 || type.element.complex || !type.has_static_shape()) return;
    }
    const bool gradient = RoleOf(flow_, node, *numbers) == ConvolutionRole::kFilterGradient;
    const Places at = gradient ? Places{numbers->input_batch, -1, numbers->kernel_output_feature, numbers->output_batch,
                                        numbers->output_feature}
                               : Places{numbers->input_feature, numbers->kernel_input_feature,
                                        numbers->kernel_output_feature, -1, numbers->output_feature};
    int64_t in = SizeAt(flow_.type(lhs), at.lhs_in);
    int64_t out = SizeAt(flow_.type(rhs), at.rhs_out);
    if (in <= 0 || out <= 0 || !Widen(in, out)) return;
    Node made = flow_.Copy(id_);
    made.operands = {Padded(lhs, at.lhs_in, in), Padded(Padded(rhs, at.rhs_in, in), at.rhs_out, out)};
    Dimensions dims = flow_.type(result).dims;
    if (gradient) dims[static_cast<size_t>(at.result_in)] = in;
    dims[static_cast<size_t>(at.result_out)] = out;
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(result), dims)};
    flow_.Replace(result, Cut(flow_.result(flow_.Add(std::move(made), types)), flow_.type(result).dims));
  }

 private:
  // Sets the wanted numbers of features; false where they stand already, or a buffer would grow too much.
  static bool Widen(int64_t& in, int64_t& out) {
    if (in == kColours && (out == 32 || out == 64)) {
      in = kPaddedColours;
      return true;
    }
    const auto up = [](int64_t n) { return (n + kFactor - 1) / kFactor * kFactor; };
    const auto growth = [&](int64_t n) { return static_cast<double>(up(n)) / static_cast<double>(n); };
    if (growth(in) * growth(out) > kGrowth) return false;  // the filter holds both
    const bool changes = up(in) != in || up(out) != out;
    in = up(in);
    out = up(out);
    return changes;
  }

  WireId Padded(WireId wire, int64_t dimension, int64_t size) {
    if (dimension < 0 || SizeAt(flow_.type(wire), dimension) == size) return wire;
    Dimensions dims = flow_.type(wire).dims;
    Dimensions none(dims.size(), 0);
    Dimensions high = none;
    high[static_cast<size_t>(dimension)] = size - dims[static_cast<size_t>(dimension)];
    dims[static_cast<size_t>(dimension)] = size;
    ir::Module& source = flow_.source();
    const WireId zero =
        flow_.result(flow_.Add({.name = "stablehlo.constant",
                                .results = {TensorLike(source, flow_.type_id(wire), {})},
                                .attributes = {MakeAttribute(source, "value", "dense<0.000000e+00> : tensor<f16>")}}));
    return flow_.result(flow_.Add({.name = "stablehlo.pad",
                                   .operands = {wire, zero},
                                   .results = {TensorLike(source, flow_.type_id(wire), std::move(dims))},
                                   .attributes = {MakeAttribute(source, "edge_padding_low", ArrayText(none)),
                                                  MakeAttribute(source, "edge_padding_high", ArrayText(high)),
                                                  MakeAttribute(source, "interior_padding", ArrayText(none))}}));
  }

  // `dims` by value: slices add types, which may move those there are.
  WireId Cut(WireId wire, Dimensions dims) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (flow_.type(wire).dims[d] != dims[d]) wire = SliceOf(flow_, wire, d, 0, dims[d]);
    }
    return wire;
  }

  Dataflow& flow_;
  NodeId id_;
};

}  // namespace

void PadConvolutions(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (flow.node(id).kind == OpKind::kConvolution) Padder(flow, id).Run();
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
