// Orders in which XLA would run a block whose ops are not scheduled yet, to hold little memory.
//
// - The candidates are those of its DefaultMemoryScheduler: a greedy list, depth first with the heaviest operands
// first,
//   and plain depth first. The caller takes the one with the lowest peak, the first of equal ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.h"
#include "memory/liveness.h"

namespace hespas::memory {

// Orders of all ops of the block but its terminator, each once.
std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes);

// The order of XLA's latency-hiding scheduler on a GPU for a program whose collectives are whole; `least`: an order of
// least memory; `limit`: bytes that it may hold.
std::vector<ir::OpId> HidingOrder(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes,
                                  std::span<const ir::OpId> least, int64_t limit);

}  // namespace hespas::memory
