// What every loop, branch and call of a module holds inside, from the innermost outwards.
#pragma once

#include <cstdint>

#include "ir/module.h"
#include "memory/liveness.h"

namespace hespas::memory {

// By op; calls count what the called function holds. A function that calls itself counts nothing there. `limit`: as
// BlockToOrder says.
InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes, const BufferPolicy& policy, int64_t limit);

}  // namespace hespas::memory
