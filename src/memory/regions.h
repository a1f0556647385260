// What every loop, branch and call of a module holds inside, from the innermost outwards.
#pragma once

#include "ir/module.h"
#include "memory/liveness.h"

namespace hespas::memory {

struct InsideOptions {
  bool on_cpu = false;
  bool breadth_first = false;    // bodies run in that order, not in the program's
  bool unscheduled_gpu = false;  // bodies run as block_order.h says; library calls and sorts need scratch.h's memory
  bool by_model = false;         // as MemoryOptions says
};

// By op; calls count what the called function holds. A function that calls itself counts nothing there.
InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes, const InsideOptions& options);

}  // namespace hespas::memory
