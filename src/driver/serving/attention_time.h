// One fused attention kernel of a serving step: by the field model, and never faster than its matmuls.
#pragma once

#include "estimate/calibrated/kernel.h"
#include "estimate/field/attention.h"
#include "serve/model/kernels.h"

namespace hespas::driver {

// Not `in_field`: the longer of memory traffic and matmuls, at the field model's fractions of the peaks.
// The requests of a call share it evenly: each has their mean of rows and context.
estimate::calibrated::KernelTime AttentionTime(const serve::AttentionCall& call, bool in_field,
                                               const estimate::field::Chip& chip,
                                               const estimate::field::Constants& constants);

}  // namespace hespas::driver
