#include "driver/serving/attention_time.h"

#include <algorithm>

namespace hespas::driver {

using estimate::calibrated::Datatype;
using estimate::calibrated::KernelTime;

KernelTime AttentionTime(const serve::AttentionCall& call, const estimate::calibrated::KernelModel& model) {
  constexpr double kBytes = 2;  // of queries and outputs
  // FlashAttention-3 (arXiv 2407.08608, figure 5): causal forward with 128 features reaches 640 of 989 TFLOP/s.
  constexpr double kOfPeak = 0.65;
  KernelTime time;
  time.flops = 2 * call.pairs * call.heads * (call.head_size + call.value_size);
  time.bytes = call.context * call.cache_width * call.cache_bytes +
               call.rows * call.heads * (call.head_size + call.value_size) * kBytes;
  const auto type = static_cast<size_t>(Datatype::kBf16);
  time.compute_us = time.flops / (model.machine().matrix_rate[type] * kOfPeak);
  time.memory_us = time.bytes / model.memory_rate();
  time.launch_us = model.parameters().gemm.launch_us;
  time.us = time.launch_us + std::max(time.compute_us, time.memory_us);
  return time;
}

}  // namespace hespas::driver
