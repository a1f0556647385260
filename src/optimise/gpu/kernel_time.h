// How long XLA's GPU compiler expects a kernel to take, where it decides what to fuse: not how long it takes.
//
// Source: xla/service/gpu/model, gpu_performance_model_base.cc and hlo_op_profiles_data.h. The first read of a value
// comes from memory, further ones from a cache that holds it; arithmetic and memory overlap to 95 %. Times are whole
// ticks, as in XLA's absl::Duration: equal ones are common, and then the order of ops decides.
#pragma once

#include "ir/op_kind.h"
#include "optimise/optimise.h"

namespace hespas::optimise {

// Ticks: quarters of a nanosecond.
inline constexpr double kTicksPerSecond = 4e9;

// Rounds to a whole number. Sums of at least 2^52 have no fraction.
inline double WholeTicks(double ticks) {
  constexpr double kNoFraction = 0x1.8p52;
  return (ticks + kNoFraction) - kNoFraction;
}

// Ticks for `total` bytes read of a value of `size` bytes, by a kernel of so many thread blocks. What does not come
// out of a cache gets a share of the memory's bandwidth (`rate`).
double ReadTicks(const GpuFigures& gpu, double size, double total, double blocks, double rate = 1);

// Ticks for a kernel's memory traffic and its operations (clocks of one lane); launch excluded. Few thread blocks keep
// few processors busy.
double KernelTicks(const GpuFigures& gpu, double memory_ticks, double operations, double blocks);

// Clocks of one lane for one element.
double OperationClocks(const GpuFigures& gpu, ir::OpKind kind, bool is_f32);

}  // namespace hespas::optimise
