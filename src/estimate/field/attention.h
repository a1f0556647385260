// Time of one fused attention call inside a CUDA graph, from its shapes.
//
// - Context: context.h, and its gradients: backward.h.
// - Generation: generation.h.
#pragma once

#include "estimate/field/matmul.h"

namespace hespas::estimate::field {

enum class Phase : uint8_t { kContext, kGeneration, kEncoder };

struct AttentionCall {
  Phase phase = Phase::kContext;
  bool f8 = false;        // type of the two matmuls
  bool f8_cache = false;  // of keys and values
  bool f4_cache = false;  // with f8_cache: kept in 4 bits with a scale for 16 elements, multiplied in 8
  double batch = 1, queries = 1, keys = 1;
  double heads = 1, key_heads = 1, head_size = 128;
  double window = 0;         // keys that a query sees at most; 0: all
  bool rope = false;         // rotary embedding is inside the call: TensorRT-LLM's kernels; else FlashAttention's
  bool ungrouped = false;    // each query head reads keys and values for itself: masked multi-head attention
  bool cache_write = false;  // the write of new keys and values is inside
  bool in_step = false;      // of a model: other layers' caches have left L2
  bool cudnn = false;        // cuDNN's kernels instead of these libraries'
  bool backward = false;     // gradients of queries, keys and values, of a context or an encoder
  double dispatch_us = 0;    // smallest latency of such calls where they were measured; 0: unknown
};

Time TimeOf(const Chip& chip, const Constants& constants, const AttentionCall& call);

// Parts of both phases.
double SoftMaximum(double a, double b, double power);
double KeysSeen(const AttentionCall& call);
double CacheBytes(const AttentionCall& call);

// us of bytes of which L2 has a part, and memory of this `bandwidth` the rest.
double MoveUs(const Chip& chip, double bytes, double bandwidth, double l2_bytes_per_clock, double kept);

}  // namespace hespas::estimate::field
