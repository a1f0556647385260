// What XLA's compilers do with buffers where they differ, and in which order they run a program.
#pragma once

#include <cstdint>

#include "ir/module.h"

namespace hespas::memory {

enum class Compiler : uint8_t {
  kGpu,
  kGpuWithModel,  // plans with a model of the device, by which one matmul hides a collective (GPUs from Hopper on)
  kCpu,
};

enum class RunOrder : uint8_t {
  kOwn,           // a compiler's schedule
  kBreadthFirst,  // the CPU compiler's
  kLeastMemory,   // what the GPU compiler's schedulers may make of a program (order/block_order.h)
};

// Bytes to which XLA rounds buffers.
inline constexpr int64_t kGpuAlignment = 256;
inline constexpr int64_t kCpuAlignment = 64;

struct BufferPolicy {
  RunOrder order = RunOrder::kOwn;
  int64_t alignment = 0;       // bytes
  int64_t gemm_workspace = 0;  // the most that a GEMM call takes, where the program does not say it
  bool sees_reshapes = true;   // a fusion's result may lie over what the fusion reads through a reshape
  bool calls_are_tuples =
      false;                    // library calls return a tuple with their workspace that the program does not spell out
  bool plans_by_model = false;  // as Compiler says
};

// `ordered`: the program's order is a compiler's schedule.
BufferPolicy BufferPolicyOf(const ir::Module& module, Compiler compiler, bool ordered);

}  // namespace hespas::memory
