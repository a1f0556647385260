// One fused attention kernel of a serving step.
#pragma once

#include "estimate/calibrated/model.h"
#include "serve/kernels.h"

namespace hespas::driver {

// Decodes read the cache once, whatever the number of query heads; prompts compute both products for each pair of
// tokens that the causal mask leaves.
estimate::calibrated::KernelTime AttentionTime(const serve::AttentionCall& call,
                                               const estimate::calibrated::KernelModel& model);

}  // namespace hespas::driver
