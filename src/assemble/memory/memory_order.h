// Orders in which a compiler would run a block whose ops are not scheduled yet, to hold little memory.
//
// - The candidates are XLA's depth-first order with the heaviest operands first, the program's own, and both with ops
//   that free more than they make moved forward. The caller takes the one with the lowest peak.
#pragma once

#include <vector>

#include "assemble/memory/donation.h"
#include "assemble/memory/liveness.h"
#include "ir/module.h"

namespace hespas::assemble::memory {

// Orders of all ops of the block but its terminator, each once.
std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const Donation& donation,
                                                const BufferSizes& sizes);

}  // namespace hespas::assemble::memory
