// How far XLA's latency-hiding scheduler may go from the order of least memory, under its memory limit
// (latency_hiding_scheduler.cc, kMemoryPeakOverLimit and kDecreaseMemoryOverLimit).
//
// - It chooses backwards from the end. An op that would take what is held beyond the limit is put off as long as others
//   are ready; beyond the limit, what holds least comes first: here the last in the order of least memory.
// - The limit is one of choice: an order of least memory that exceeds it stands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.h"
#include "memory/liveness.h"

namespace hespas::memory {

// `wanted`, as far as the limit allows; both orders hold all ops of the block but its terminator.
std::vector<ir::OpId> WithinLimit(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes,
                                  std::span<const ir::OpId> wanted, std::span<const ir::OpId> least, int64_t limit);

}  // namespace hespas::memory
