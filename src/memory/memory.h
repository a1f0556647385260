// Peak memory of one device: liveness of every buffer over the order in which the program runs.
//
// - A scheduled program (HLO with is_scheduled) keeps its order; any other gets the order with the lowest peak among
//   a few, or that of XLA's CPU compiler. Arguments are held throughout; results are in donated arguments where the
//   program says so.
// - Nested loops, branches and calls count with their worst moment. Iterative: nesting does not grow the stack.
#pragma once

#include <functional>

#include "ir/module.h"
#include "memory/buffers/buffer_policy.h"
#include "result/memory_curve.h"

namespace hespas::memory {

// Bytes that XLA's scheduler lets temporaries take beside what is held throughout.
using SchedulerRoom = std::function<double(double held_throughout)>;

struct MemoryOptions {
  std::function<Time(ir::OpId)> duration;      // of an op of `main`, for the curve's time axis; empty: none
  bool keep_order = false;                     // the program's order is a compiler's schedule
  Compiler compiler = Compiler::kGpu;          // of XLA's
  SchedulerRoom room;                          // empty: no limit
  size_t largest = 20;                         // live tensors to name
  std::function<std::string(ir::OpId)> layer;  // of what an op makes, "" for none; empty: layers are not told apart
};

result::MemoryCurve MemoryOf(const ir::Module& module, const MemoryOptions& options);

}  // namespace hespas::memory
