// The limits that trtllm-bench sets for a maximum load where it is told none: NVIDIA/TensorRT-LLM,
// tensorrt_llm/bench/build/build.py (get_benchmark_engine_settings), tuning.py (calc_engine_setting, finetune_setting)
// and bench/benchmark/utils/general.py (get_settings) of 1.0.
//
// - Latent attention is counted by its vectors, as bench/tuning/heuristics.py does since; 1.0 counted keys and values
//   of all heads, which cuts NVIDIA's rows of DeepSeek-R1 on Blackwell to two thirds of what they reach.
#pragma once

#include <cstdint>

#include "driver/serving/server.h"

namespace hespas::validate {

struct BenchLimits {
  int64_t requests = 1;
  int64_t tokens = 1;  // of a step
};

// Of an engine, or of each rank with attention data parallel. `server` is of a model and a device.
BenchLimits BenchLimitsOf(const driver::Server& server, double devices, double input, double output);

}  // namespace hespas::validate
