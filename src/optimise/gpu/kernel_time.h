// How long XLA's GPU compiler expects a kernel to take, where it decides what to fuse: not how long it takes.
//
// Source: xla/service/gpu/model, gpu_performance_model_base.cc and hlo_op_profiles_data.h. The first read of a value
// comes from memory, further ones from a cache that holds it; arithmetic and memory overlap to 95 %.
#pragma once

#include "ir/op_kind.h"
#include "optimise/optimise.h"

namespace hespas::optimise {

// Seconds for `total` bytes read of a value of `size` bytes, by a kernel of so many thread blocks. What does not come
// out of a cache gets a share of the memory's bandwidth (`rate`).
double ReadTime(const GpuFigures& gpu, double size, double total, double blocks, double rate = 1);

// Seconds for a kernel's memory traffic and its operations (clocks of one lane); launch excluded. Few thread blocks
// keep few processors busy.
double KernelTime(const GpuFigures& gpu, double memory_seconds, double operations, double blocks);

// Clocks of one lane for one element.
double OperationClocks(const GpuFigures& gpu, ir::OpKind kind, bool is_f32);

}  // namespace hespas::optimise
