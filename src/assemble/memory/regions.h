// What every loop, branch and call of a module holds inside, from the innermost outwards.
#pragma once

#include "assemble/memory/liveness.h"
#include "ir/module.h"

namespace hespas::assemble::memory {

struct InsideOptions {
  bool on_cpu = false;
  bool breadth_first = false;  // bodies run in that order, not in the program's
  bool with_scratch = false;   // a GPU's program before XLA's buffer assignment: see scratch.h
  bool by_model = false;       // as MemoryOptions says
};

// By op; calls count what the called function holds. A function that calls itself counts nothing there.
InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes, const InsideOptions& options);

}  // namespace hespas::assemble::memory
