// Which kernel a library takes for the attention of prompts, and its tiles.
//
// - TensorRT-LLM: cpp/kernels/fmha_v2/setup.py (tiles), fmhaRunner.cpp (choice). With mma.sync a "tiled" kernel with
//   128 keys, or a plain one with 16 or 32; on sm_90 warp groups of 64 queries, two a block; on sm_10x trtllm-gen.
// - FlashAttention 2: flash_fwd_launch_template.h; FlashAttention 3: hopper/tile_size.h.
#pragma once

#include "estimate/field/attention.h"

namespace hespas::estimate::field {

struct ContextKernel {
  bool library = false;         // TensorRT-LLM's, else FlashAttention's
  bool f8 = false;              // type of its matmuls
  double size = 128;            // of a head, padded
  double queries = 128;         // of a block
  double keys = 128;            // of a step
  double warp_rows = 0;         // queries of a warp, which reads keys and values for them; 0: the SM's units read them
  double flops_per_clock = 0;   // of an SM
  bool holds_operands = false;  // queries and a step's keys stay in a thread's registers, beside results
};

ContextKernel ContextKernelOf(const Chip& chip, const AttentionCall& call);

}  // namespace hespas::estimate::field
