// What every loop, branch and call of a module holds inside, from the innermost outwards.
#pragma once

#include "assemble/memory/liveness.h"
#include "ir/module.h"

namespace hespas::assemble::memory {

// By op; calls count what the called function holds. A function that calls itself counts nothing there.
// `breadth_first`: bodies run in that order, not in the program's.
InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes, bool on_cpu, bool breadth_first);

}  // namespace hespas::assemble::memory
