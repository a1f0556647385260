// Weight-gradient sinking, as XLA's latency-hiding scheduler does it: only a reduction over devices waits for these
// matmuls, so they run while later gathers are in flight, and their operands are held until then.
//
// - A matmul sinks if its result goes only into an all-reduce or reduce-scatter that no matmul follows. It runs before
//   the second next collective of another kind (the next one is in flight by then), or at the end; in any case before
//   its users.
// - Programs without such collectives keep their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.h"

namespace hespas::memory {

enum class SinkUntil : uint8_t {
  kNextGather,  // several matmuls hide a gather (XLA's ticks)
  kEnd,         // one matmul hides a gather (XLA's model of a device, from Hopper on)
};

// `order`: all ops of a block but its terminator; the result holds the same.
std::vector<ir::OpId> SinkWeightGradients(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> order,
                                          SinkUntil until);

}  // namespace hespas::memory
