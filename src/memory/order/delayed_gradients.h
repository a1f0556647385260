// Gradients of weights as XLA's latency-hiding scheduler places them: nothing but a reduction over devices waits for
// their products, so they run while gathers further on are under way, and what they read is held until then.
//
// - A product is delayed whose result goes into an all-reduce or reduce-scatter alone, behind which stands no product.
//   It runs before the second next collective of another kind (the next one is under way by then), or at the end; in
//   any case before what needs it.
// - Programs without such collectives keep their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.h"

namespace hespas::memory {

enum class DelayUntil : uint8_t {
  kNextGather,  // several products hide a gather (XLA's ticks)
  kEnd,         // one product hides a gather, so that no other is called for (XLA's model of a device, from Hopper on)
};

// `order`: all ops of a block but its terminator; the result holds the same.
std::vector<ir::OpId> DelayGradients(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> order,
                                     DelayUntil until);

}  // namespace hespas::memory
