// A convolution as cuDNN runs it: cuDNN has kernels of their own for gradients.
//
// - The labels are those of the forward convolution, whichever of its three arrays is the result (XLA's HLO has them
// so).
// - Windows stay those of the plain convolution, so that it can be made again.
#pragma once

#include <optional>
#include <string>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

enum class ConvolutionRole : uint8_t { kForward, kInputGradient, kFilterGradient };

// The labels of the forward convolution from those of the plain one that computes a gradient, or back.
ir::ConvolutionDimensions ExchangeLabels(ConvolutionRole role, const ir::ConvolutionDimensions& labels);
ir::Attribute LabelsAttribute(ir::Module& source, const ir::ConvolutionDimensions& labels);
// first, middle..., last
Dimensions OrderOf(int64_t first, const Dimensions& middle, int64_t last);
// Whether each of the three arrays has every one of `rank` dimensions once.
bool AreOrders(const ir::ConvolutionDimensions& labels, size_t rank);

struct ConvolutionCall {
  static constexpr size_t kResult = SIZE_MAX;

  ConvolutionRole role;
  ir::ConvolutionDimensions labels;

  // Which operand plays the part in the forward convolution, or kResult.
  size_t input() const { return role == ConvolutionRole::kInputGradient ? kResult : 0; }
  size_t kernel() const { return role == ConvolutionRole::kFilterGradient ? kResult : 1; }
  size_t output() const {
    return role == ConvolutionRole::kForward ? kResult : role == ConvolutionRole::kInputGradient ? 0 : 1;
  }
};

constexpr std::string_view kFusedConvolution = "__cudnn$convBiasActivationForward";

std::string_view TargetOf(ConvolutionRole role);
// Nothing for other nodes.
std::optional<ConvolutionCall> ConvolutionCallOf(const Dataflow& flow, const Node& node);
// What a fused call computes beside the convolution: a bias that is not zero (operand 2), a sum (operand 3), a ReLU.
bool HasBias(const Dataflow& flow, const Node& call);
bool HasSideInput(const Dataflow& flow, const Node& call);
bool IsActivated(const Dataflow& flow, const Node& call);

// Configurations of a fused call, as XLA writes them.
constexpr std::string_view kNoActivation = R"("{\22cudnn_conv_backend_config\22:{\22activation_mode\22:\22kNone\22}}")";
constexpr std::string_view kRelu = R"("{\22cudnn_conv_backend_config\22:{\22activation_mode\22:\22kRelu\22}}")";

}  // namespace hespas::optimise
