// The order of XLA's CPU compiler (BFScheduler): an op runs when its last operand is there, the first ready first, so
// that independent work runs side by side.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hespas::memory {

// All ops of the block but its terminator, each once.
std::vector<ir::OpId> BreadthFirst(const ir::Module& module, ir::BlockId block);

}  // namespace hespas::memory
