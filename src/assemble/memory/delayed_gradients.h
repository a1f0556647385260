// Gradients of weights as XLA's latency-hiding scheduler places them: nothing but a reduction over devices waits for
// their products, so they run while gathers further on are under way, and what they read is held until then.
//
// - A product is delayed whose result goes through single-reader ops into an all-reduce or reduce-scatter alone. It
// runs
//   before the second next collective of another kind (the next one is under way by then), or before what needs it.
// - Programs without such collectives keep their order.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"

namespace hespas::assemble::memory {

// `order`: all ops of a block but its terminator; the result holds the same.
std::vector<ir::OpId> DelayGradients(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> order);

}  // namespace hespas::assemble::memory
