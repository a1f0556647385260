#include "driver/serving/attention_time.h"

#include <algorithm>

namespace hespas::driver {

using estimate::calibrated::Datatype;
using estimate::calibrated::KernelTime;

KernelTime AttentionTime(const serve::AttentionCall& call, const estimate::calibrated::KernelModel& model) {
  KernelTime time;
  constexpr double kBytes = 2;  // of queries and outputs
  // Fitted by eye on data/measured's attention kernels of H100 and B200 (TensorRT-LLM 1.3.0rc20).
  constexpr double kDecodeBandwidth = 0.92;  // of the memory's, by long reads
  constexpr double kDecodeRamp = 10;         // us until they are under way
  constexpr double kPromptRate = 0.6;        // of the matrix units' peak
  constexpr double kDiagonal = 256;          // tokens a row computed in vain, in tiles on the diagonal
  constexpr double kPromptStart = 8;         // us
  const double features = call.heads * (call.head_size + call.value_size);
  time.bytes = call.context * call.cache_width * call.cache_bytes + call.rows * features * kBytes;
  time.flops = 2 * call.pairs * features;
  time.memory_us = time.bytes / (model.machine().memory_rate * kDecodeBandwidth);
  const double peak = model.machine().matrix_rate[static_cast<size_t>(Datatype::kBf16)];
  time.launch_us = model.parameters().stream.launch_us;
  if (call.decode) {
    time.compute_us = time.flops / (peak * kPromptRate);
    const double body = std::max(time.memory_us, time.compute_us);
    time.us = time.launch_us + body + kDecodeRamp * body / (body + kDecodeRamp);
  } else {
    time.compute_us = 2 * (call.pairs + call.rows * kDiagonal) * features / (peak * kPromptRate);
    time.us = time.launch_us + kPromptStart + time.memory_us + time.compute_us;
  }
  return time;
}

}  // namespace hespas::driver
