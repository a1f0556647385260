#include "driver/serving/memory.h"

#include <algorithm>
#include <cmath>

#include "driver/serving/step_memory.h"

namespace hespas::driver {
namespace {

// Rows of the largest captured step, of all ranks: requests pad to it. Its buffers stay, apart from those of other
// steps; so does the cache's room where it is what is left (TensorRT-LLM, _torch/pyexecutor/_util.py: peak memory is
// that of a step with all tokens and what else is in use, graphs among it).
double CapturedRows(const serve::EngineProfile& engine, double ranks) {
  if (engine.memory_rule != serve::MemoryRule::kLeft) return 0;
  const double requests = static_cast<double>(engine.policy.max_requests) / ranks;
  double rows = 0;
  for (const double size : engine.graphs.sizes) {
    if (size <= requests) rows = size * ranks;
  }
  return rows;
}

}  // namespace

double ReportedCapacity(const hardware::Device& device) {
  // nvidia-smi: H100 81,559 MiB of 80 GiB, H200 143,771 of 141, B200 183,359 of 180, GB200 189,471 of 186.
  constexpr double kReported = 0.9952;
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const double stated = device.memory_capacity ? static_cast<double>(device.memory_capacity->value) : 0;
  const bool binary = std::fmod(stated, kGiB) == 0;
  return (binary ? stated : stated / 1e9 * kGiB) * kReported;
}

ServeMemory MemoryOf(const hardware::Device& device, const serve::StepKernels& kernels,
                     const serve::EngineProfile& engine, const PeerMemory& peers) {
  ServeMemory memory{.capacity = ReportedCapacity(device), .weights = kernels.WeightBytes()};
  const serve::Policy& policy = engine.policy;
  const auto peak = [&](double rows, double sampled) { return PeakOfStep(kernels.StepProgram(rows, sampled)); };
  memory.workspace =
      engine.reserved_bytes + peak(static_cast<double>(policy.max_tokens), static_cast<double>(policy.max_requests));
  const double captured = CapturedRows(engine, static_cast<double>(peers.caches));
  if (captured > 0) memory.workspace += peak(captured, captured);
  memory.workspace += kernels.RotationBytes(engine.rotation_bytes);
  memory.workspace += peers.communicator;
  memory.cache_bytes_per_token = kernels.CacheBytesPerToken();
  const double left = memory.capacity - memory.weights - memory.workspace;
  const double beside = memory.capacity * (1 - engine.memory_fraction);  // not the engine's, or not these two's
  const double rest = engine.memory_rule == serve::MemoryRule::kTotal ? left - beside
                      : engine.memory_rule == serve::MemoryRule::kStatic
                          ? std::min(left, left + memory.workspace - beside)
                          : left * engine.memory_fraction;
  const double block = memory.cache_bytes_per_token * static_cast<double>(policy.block);
  const double blocks = std::max(0.0, std::floor(rest / block));  // of one cache
  memory.blocks = static_cast<int64_t>(blocks) * peers.caches;
  memory.fits = memory.blocks > 0;
  memory.cache = blocks * block;
  memory.cache_tokens = memory.blocks * policy.block;
  return memory;
}

}  // namespace hespas::driver
