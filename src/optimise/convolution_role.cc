#include "optimise/convolution_role.h"

#include <algorithm>

#include "optimise/build.h"

namespace hespas::optimise {
namespace {

bool IsDilated(const Dataflow& flow, const Node& node, std::string_view name) {
  const auto dilation = IntegersOf(flow, node, name);
  return dilation && std::any_of(dilation->begin(), dilation->end(), [](int64_t d) { return d > 1; });
}

// By something larger than its result, or by something dilated.
bool IsFilterGradient(const Dataflow& flow, const Node& node, const ir::ConvolutionDimensions& numbers) {
  if (IsDilated(flow, node, "rhs_dilation")) return true;
  for (size_t i = 0; i < std::min(numbers.kernel_spatial.size(), numbers.output_spatial.size()); ++i) {
    const int64_t kernel = SizeAt(flow.type(node.operands[1]), numbers.kernel_spatial[i]);
    if (kernel > SizeAt(flow.type(node.first_result), numbers.output_spatial[i])) return true;
  }
  return false;
}

// Of something dilated, or by a kernel turned round; one of a single place is the same either way.
bool IsInputGradient(const Dataflow& flow, const Node& node, const ir::ConvolutionDimensions& numbers) {
  if (IsDilated(flow, node, "lhs_dilation")) return true;
  const ir::Type& kernel = flow.type(node.operands[1]);
  const bool wide = std::any_of(numbers.kernel_spatial.begin(), numbers.kernel_spatial.end(),
                                [&](int64_t d) { return SizeAt(kernel, d) > 1; });
  const Node* maker = flow.MakerNode(node.operands[1]);
  return wide && maker != nullptr && maker->kind == ir::OpKind::kReverse;
}

}  // namespace

int64_t SizeAt(const ir::Type& type, int64_t dimension) {
  const bool exists = dimension >= 0 && static_cast<size_t>(dimension) < type.dims.size();
  return exists ? type.dims[static_cast<size_t>(dimension)] : 0;
}

ConvolutionRole RoleOf(const Dataflow& flow, const Node& node, const ir::ConvolutionDimensions& numbers) {
  if (IsFilterGradient(flow, node, numbers)) return ConvolutionRole::kFilterGradient;
  return IsInputGradient(flow, node, numbers) ? ConvolutionRole::kInputGradient : ConvolutionRole::kForward;
}

}  // namespace hespas::optimise
