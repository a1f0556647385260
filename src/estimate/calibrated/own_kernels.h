// Kernels that tell their work: by the field model where it has them, else by their arithmetic.
#pragma once

#include <optional>

#include "estimate/calibrated/leaf_facts.h"
#include "estimate/calibrated/model.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

// The field model has kernels of libraries for CUDA's GPUs with bf16: attention with its softmax, and dots with scales
// of blocks where the device multiplies them.
bool PricedByField(const hardware::Device& device, const LeafFacts& facts);

// us of such a kernel alone, without its start; none of other kernels.
std::optional<double> FieldUs(const hardware::Device& device, const LeafFacts& facts);

// us of the matmuls. A systolic array takes longer for heads that do not fill it: they are the contracted dimension of
// one of attention's matmuls and the columns of the other.
double MatrixUs(const KernelModel& model, const hardware::Device& device, const LeafFacts& facts);

}  // namespace hespas::estimate::calibrated
