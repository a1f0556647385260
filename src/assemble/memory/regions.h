// What every loop, branch and call of a module holds inside, from the innermost outwards.
#pragma once

#include "assemble/memory/liveness.h"
#include "ir/module.h"

namespace hespas::assemble::memory {

// By op; calls count what the called function holds. A function that calls itself counts nothing there.
InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes);

}  // namespace hespas::assemble::memory
