// XLA's CPU compiler runs convolutions of batch, places, features by places, features in, features out (its
// ConvCanonicalization); operands in another order are transposed before, the result after.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

// Eigen's convolutions: of up to three spatial dimensions, without groups of the batch.
bool IsForEigen(const Dataflow& flow, const Node& node, const ir::ConvolutionDimensions& numbers) {
  const ir::Type& type = flow.type(node.first_result);
  const bool is_float = type.element.kind == ir::ElementKind::kF32 || type.element.kind == ir::ElementKind::kF16;
  const size_t places = numbers.input_spatial.size();
  return is_float && !type.element.complex && places >= 1 && places <= 3 &&
         IntegerOf(flow, node, "batch_group_count").value_or(1) == 1;
}

void Canonicalise(Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  const std::string_view* text = flow.attribute(node, "dimension_numbers");
  const auto numbers = text == nullptr ? std::nullopt : ir::AsConvolutionDimensions(*text);
  if (!numbers || node.own_operand_count() != 2 || !IsForEigen(flow, node, *numbers)) return;
  const ValueId result = node.first_result;
  const size_t rank = flow.type(result).dims.size();
  if (!AreOrders(*numbers, rank)) return;
  const Dimensions input = OrderOf(numbers->input_batch, numbers->input_spatial, numbers->input_feature);
  Dimensions kernel = numbers->kernel_spatial;
  kernel.push_back(numbers->kernel_input_feature);
  kernel.push_back(numbers->kernel_output_feature);
  const Dimensions output = OrderOf(numbers->output_batch, numbers->output_spatial, numbers->output_feature);
  std::vector<int64_t> places(rank - 2);
  std::iota(places.begin(), places.end(), 0);
  const std::string spatial = fmt::format("{}", fmt::join(places, ", "));
  Node made = flow.Copy(id);
  made.operands = {Transpose(flow, made.operands[0], input), Transpose(flow, made.operands[1], kernel)};
  SetAttribute(flow.source(), made, "dimension_numbers",
               fmt::format("#stablehlo.conv<[b, {0}, f]x[{0}, i, o]->[b, {0}, f]>", spatial));
  Dimensions dims;
  for (const int64_t d : output) dims.push_back(flow.type(result).dims[static_cast<size_t>(d)]);
  const std::vector<ir::TypeId> types{TensorLike(flow.source(), flow.type_id(result), std::move(dims))};
  const ValueId out = flow.result(flow.Add(std::move(made), types));
  flow.Replace(result, Transpose(flow, out, Inverse(output)));
}

}  // namespace

void CanonicaliseConvolutions(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (flow.node(id).kind == ir::OpKind::kConvolution) Canonicalise(flow, id);
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
