#include "driver/serving/memory.h"

#include <algorithm>
#include <cmath>

namespace hespas::driver {

double ReportedCapacity(const hardware::Device& device) {
  // nvidia-smi: H100 81,559 MiB of 80 GiB, H200 143,771 of 141, B200 183,359 of 180, GB200 189,471 of 186.
  constexpr double kReported = 0.9952;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const double stated = device.memory_capacity ? static_cast<double>(device.memory_capacity->value) : 0;
  const bool binary = std::fmod(stated, kGiB) == 0;
  return (binary ? stated : stated / 1e9 * kGiB) * kReported;
}

ServeMemory MemoryOf(const hardware::Device& device, const serve::StepKernels& kernels,
                     const serve::EngineProfile& engine, int64_t replica_ranks) {
  ServeMemory memory{.capacity = ReportedCapacity(device), .weights = kernels.WeightBytes()};
  const serve::Policy& policy = engine.policy;
  memory.workspace = engine.reserved_bytes + kernels.WorkspaceBytes(static_cast<double>(policy.max_tokens),
                                                                    static_cast<double>(policy.max_requests));
  memory.cache_bytes_per_token = kernels.CacheBytesPerToken();
  const double whole = engine.memory_rule == serve::MemoryRule::kTotal ? engine.memory_fraction : 1;
  const double of_rest = engine.memory_rule == serve::MemoryRule::kTotal ? 1 : engine.memory_fraction;
  const double rest = (memory.capacity * whole - memory.weights - memory.workspace) * of_rest;
  const double block = memory.cache_bytes_per_token * static_cast<double>(policy.block);
  memory.blocks = static_cast<int64_t>(std::max(0.0, std::floor(rest / block))) * replica_ranks;
  memory.fits = memory.blocks > 0;
  memory.cache = static_cast<double>(memory.blocks / replica_ranks) * block;
  memory.cache_tokens = memory.blocks * policy.block;
  return memory;
}

}  // namespace hespas::driver
