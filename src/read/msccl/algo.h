// An MSCCL-IR document as it is: GPUs, thread blocks, steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::read::msccl {

struct Step {
  std::string type;
  int64_t count = 0;
  int64_t depends_block = -1;  // thread block id, -1: none
  int64_t depends_step = -1;
  size_t line = 0;
};

struct ThreadBlock {
  int64_t id = 0;
  int64_t send = -1;
  int64_t receive = -1;
  int64_t channel = 0;
  std::vector<Step> steps;
};

struct Gpu {
  int64_t id = 0;
  int64_t input_chunks = 0;
  int64_t output_chunks = 0;
  std::vector<ThreadBlock> blocks;
};

struct Algorithm {
  std::string name;
  std::string collective;
  int64_t gpu_count = 0;
  std::vector<Gpu> gpus;
};

Result<Algorithm> ParseAlgorithm(std::string_view xml, const std::string& file);

}  // namespace hespas::read::msccl
