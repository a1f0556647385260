// What a convolution stands for: cuDNN has kernels of their own for gradients (XLA's ConvRewriter).
#pragma once

#include "ir/op_attributes.h"
#include "optimise/dataflow.h"

namespace hespas::optimise {

enum class ConvolutionRole : uint8_t { kForward, kInputGradient, kFilterGradient };

ConvolutionRole RoleOf(const Dataflow& flow, const Node& node, const ir::ConvolutionDimensions& numbers);

// Of one of the dimensions that a convolution's numbers name; 0 where the type has none of that number.
int64_t SizeAt(const ir::Type& type, int64_t dimension);

}  // namespace hespas::optimise
