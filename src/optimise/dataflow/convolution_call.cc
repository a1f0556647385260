#include "optimise/dataflow/convolution_call.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ir/attributes/attribute.h"

namespace hespas::optimise {
namespace {

using ir::ConvolutionDimensions;

std::string Labels(int64_t first, char first_name, int64_t second, char second_name, const Dimensions& spatial) {
  std::vector<std::string> out(spatial.size() + 2);
  out[static_cast<size_t>(first)] = first_name;
  out[static_cast<size_t>(second)] = second_name;
  for (size_t i = 0; i < spatial.size(); ++i) out[static_cast<size_t>(spatial[i])] = std::to_string(i);
  std::string text;
  for (const std::string& label : out) text += (text.empty() ? "" : ", ") + label;
  return "[" + text + "]";
}

std::string TargetText(const Dataflow& flow, const Node& node) {
  const std::string_view* text = flow.attribute(node, "call_target_name");
  return node.kind == ir::OpKind::kCustomCall && text != nullptr ? ir::AsString(*text).value_or("") : "";
}

}  // namespace

// The gradient of a filter exchanges batch and features of the input, and the filter (the output's gradient) with the
// result; that of an input exchanges input and output, and with them the filter's features.
ConvolutionDimensions ExchangeLabels(ConvolutionRole role, const ConvolutionDimensions& labels) {
  ConvolutionDimensions out = labels;
  if (role == ConvolutionRole::kFilterGradient) {
    std::swap(out.input_batch, out.input_feature);
    std::swap(out.kernel_input_feature, out.output_batch);
    std::swap(out.kernel_output_feature, out.output_feature);
    std::swap(out.kernel_spatial, out.output_spatial);
  } else if (role == ConvolutionRole::kInputGradient) {
    std::swap(out.input_batch, out.output_batch);
    std::swap(out.input_feature, out.output_feature);
    std::swap(out.input_spatial, out.output_spatial);
    std::swap(out.kernel_input_feature, out.kernel_output_feature);
  }
  return out;
}

Dimensions OrderOf(int64_t first, const Dimensions& middle, int64_t last) {
  Dimensions order = {first};
  order.insert(order.end(), middle.begin(), middle.end());
  order.push_back(last);
  return order;
}

bool AreOrders(const ConvolutionDimensions& labels, size_t rank) {
  const auto is_order = [&](int64_t first, const Dimensions& middle, int64_t last) {
    std::vector<char> seen(rank, 0);
    for (const int64_t d : OrderOf(first, middle, last)) {
      if (d < 0 || static_cast<size_t>(d) >= rank || seen[static_cast<size_t>(d)]++ != 0) return false;
    }
    return middle.size() + 2 == rank;
  };
  return is_order(labels.input_batch, labels.input_spatial, labels.input_feature) &&
         is_order(labels.kernel_input_feature, labels.kernel_spatial, labels.kernel_output_feature) &&
         is_order(labels.output_batch, labels.output_spatial, labels.output_feature);
}

ir::Attribute LabelsAttribute(ir::Module& source, const ConvolutionDimensions& labels) {
  return MakeAttribute(
      source, "dimension_numbers",
      fmt::format("#stablehlo.conv<{}x{}->{}>",
                  Labels(labels.input_batch, 'b', labels.input_feature, 'f', labels.input_spatial),
                  Labels(labels.kernel_input_feature, 'i', labels.kernel_output_feature, 'o', labels.kernel_spatial),
                  Labels(labels.output_batch, 'b', labels.output_feature, 'f', labels.output_spatial)));
}

std::string_view TargetOf(ConvolutionRole role) {
  switch (role) {
    case ConvolutionRole::kForward:
      return "__cudnn$convForward";
    case ConvolutionRole::kInputGradient:
      return "__cudnn$convBackwardInput";
    case ConvolutionRole::kFilterGradient:
      return "__cudnn$convBackwardFilter";
  }
  return {};
}

std::optional<ConvolutionCall> ConvolutionCallOf(const Dataflow& flow, const Node& node) {
  const std::string target = TargetText(flow, node);
  const std::string_view* text = flow.attribute(node, "dimension_numbers");
  if (target.empty() || text == nullptr || node.own_operand_count() < 2 || node.result_count != 1) return std::nullopt;
  auto labels = ir::AsConvolutionDimensions(*text);
  if (!labels || !AreOrders(*labels, flow.type(node.first_result).dims.size())) return std::nullopt;
  if (target == kFusedConvolution) return ConvolutionCall{ConvolutionRole::kForward, std::move(*labels)};
  for (const auto role :
       {ConvolutionRole::kForward, ConvolutionRole::kInputGradient, ConvolutionRole::kFilterGradient}) {
    if (target == TargetOf(role)) return ConvolutionCall{role, std::move(*labels)};
  }
  return std::nullopt;
}

bool HasBias(const Dataflow& flow, const Node& call) {
  return TargetText(flow, call) == kFusedConvolution && call.own_operand_count() >= 3 &&
         NumberOf(flow, call.operands[2]) != 0.0;
}

bool IsActivated(const Dataflow& flow, const Node& call) {
  const std::string_view* text = flow.attribute(call, "backend_config");
  return TargetText(flow, call) == kFusedConvolution && text != nullptr &&
         text->find("kRelu") != std::string_view::npos;
}

bool HasSideInput(const Dataflow& flow, const Node& call) {
  return TargetText(flow, call) == kFusedConvolution && call.own_operand_count() == 4;
}

}  // namespace hespas::optimise
