// Whether a compiler has put the module's ops into the order in which they run (HLO text with `is_scheduled=true`).
#pragma once

#include "ir/module.h"

namespace hespas::ir {

bool IsScheduled(const Module& module);

// Whether that was XLA's CPU compiler: all its fusions are loops, nothing is tiled (TPU), and the GPU's scheduler has
// left no mark.
bool IsScheduledForCpu(const Module& module);

}  // namespace hespas::ir
