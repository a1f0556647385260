#include "driver/serving/attention_time.h"

#include <algorithm>

namespace hespas::driver {

using estimate::calibrated::KernelTime;
namespace field = estimate::field;

KernelTime AttentionTime(const serve::AttentionCall& call, bool in_field, const field::Chip& chip,
                         const field::Constants& constants) {
  const double requests = std::max(1.0, call.requests);
  field::AttentionCall shape{.phase = call.decode ? field::Phase::kGeneration : field::Phase::kContext,
                             .f8 = call.f8 && chip.f8_rate > chip.f16_rate,
                             .f8_cache = call.cache_bytes < 2,
                             .f4_cache = call.cache_bytes < 1,
                             .batch = requests,
                             .queries = std::max(1.0, call.rows / requests),
                             .heads = call.heads,
                             .key_heads = call.kv_heads,
                             .window = call.window,
                             .rope = call.rotates,
                             .ungrouped = call.decode && call.ungrouped,
                             .cache_write = call.rotates,
                             .in_step = true};
  if (call.decode) {
    shape.keys = call.before;  // beyond its window, too: kernels split a sequence by all of them
    shape.head_size = call.cache_width / (2 * std::max(1.0, call.kv_heads));  // keys and values may be one (MLA)
  } else {
    // Causal: of `keys`, a request's queries see those that stand before them, within the window.
    shape.keys = call.before + (shape.queries - 1) / 2;
    shape.head_size = (call.head_size + call.value_size) / 2;
  }
  KernelTime time;
  time.launch_us = field::StartUs(chip, constants.matmul);
  if (in_field) {
    time.us = field::TimeOf(chip, constants, shape).us;
    return time;
  }
  const double features = call.heads * (call.head_size + call.value_size);
  // FlashAttention 2 reaches 50 to 73 % of an A100's peak (Dao, 2023).
  constexpr double kPeakFraction = 0.5;
  const double matmuls = 2 * call.pairs * features / (chip.f16_rate * kPeakFraction);
  constexpr double kRowBytes = 2;  // of an element of queries and outputs
  const double bytes = call.context * call.cache_width * call.cache_bytes + call.rows * features * kRowBytes;
  const double traffic = bytes / (chip.bandwidth * constants.generation.memory_fraction);
  time.us = std::max(matmuls, traffic) + time.launch_us;
  return time;
}

}  // namespace hespas::driver
