// One fused attention kernel of a serving step, by the field model.
#pragma once

#include "estimate/calibrated/kernel.h"
#include "estimate/field/attention.h"
#include "serve/kernels.h"

namespace hespas::driver {

// The requests of a call share it evenly: each has their mean of rows and context.
estimate::calibrated::KernelTime AttentionTime(const serve::AttentionCall& call, const estimate::field::Chip& chip,
                                               const estimate::field::Constants& constants);

}  // namespace hespas::driver
