// Time of the attention of one new token a request, without the start of a graph, by the kernel that the library takes.
//
// - A block of threads serves a key head and its group of query heads, or a query head alone (`kLanes`).
// - Where blocks are fewer than multiprocessors, kernels split the sequence and merge the parts; some do not.
#pragma once

#include "estimate/field/attention.h"

namespace hespas::estimate::field {

enum class GenerationKernel : uint8_t {
  kLanes,    // TensorRT-LLM's masked multi-head attention: without matrix units, a block for each query head
  kGeneral,  // its XQA kernels with mma.sync
  kWide,     // XQA for Hopper, kernels for tcgen05, and FlashAttention 3
  kFlash2,   // FlashAttention 2
};

GenerationKernel KernelOf(const Chip& chip, const AttentionCall& call);

double GenerationUs(const Chip& chip, const GenerationConstants& constants, const AttentionCall& call);

}  // namespace hespas::estimate::field
