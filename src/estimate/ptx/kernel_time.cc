#include "estimate/ptx/kernel_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/ptx/registers.h"
#include "hardware/capability.h"

namespace hespas::estimate::ptx {
namespace {

// CUDA C++ Programming Guide, table of technical specifications by compute capability.
constexpr int kMostBlocks = 32, kRegisterFile = 65536, kMostRegisters = 255, kSharedReserve = 1024;
int ThreadsPerSm(int capability) { return capability == 75 ? 1024 : capability >= 86 && capability < 90 ? 1536 : 2048; }

// Rates of one multiprocessor a clock, from the architecture white papers: special functions 16 where the device file
// names no other, half as many integer as floating-point lanes, one wavefront of shared memory, 64 bytes to and from
// L2.
constexpr int kSpecialLanes = 16;
constexpr double kPortBytes = 64;
// Luo et al. (2024): mma.sync, which needs no warp group, reaches 62.9 % of Hopper's peak.
constexpr double kHopperMmaShare = 0.629;
// What streams reach of a datasheet's bandwidth, and what starting a kernel takes before its first instruction.
constexpr double kMemoryShare = 0.92, kLaunchSeconds = 3e-6;

struct Bound {
  const char* name = "";
  double cycles = 0;
};

// Cycles that one block keeps each unit of its multiprocessor busy; the busiest.
Bound Busiest(const Counts& counts, const hardware::Device& device) {
  const double clock = *device.clock_hz, sms = *device.sm_count;
  const double lanes = device.lanes_per_sm.value_or(128), schedulers = device.schedulers_per_sm.value_or(4);
  const bool hopper = hardware::ComputeCapability(device) >= 90;
  const double tensor_rate = device.MatrixRateFor("bf16").value / sms / clock * (hopper ? kHopperMmaShare : 1);
  const double double_lanes = device.RateFor("f64").value / sms / clock / 2;
  const Bound bounds[] = {
      {"tensor", counts.weighted_tensor_flops / tensor_rate},
      {"lanes", counts.at(Unit::kFloat) * kWarp / lanes + counts.at(Unit::kInteger) * kWarp / (lanes / 2) +
                    counts.at(Unit::kDouble) * kWarp / std::max(double_lanes, 1.0)},
      {"special", counts.at(Unit::kSpecial) * kWarp / device.special_lanes_per_sm.value_or(kSpecialLanes)},
      {"issue", counts.all() / schedulers},
      {"shared", counts.wavefronts},
      {"l2 port", counts.sectors * 32 / kPortBytes},
  };
  return *std::max_element(std::begin(bounds), std::end(bounds),
                           [](const Bound& a, const Bound& b) { return a.cycles < b.cycles; });
}

int Occupancy(const KernelTime& kernel, const hardware::Device& device) {
  const int64_t threads = (Volume(kernel.block) + kWarp - 1) / kWarp * kWarp;
  const int64_t registers = std::max<int64_t>(1, (kernel.registers + 7) / 8 * 8);
  const int64_t shared = device.shared_memory_per_sm ? device.shared_memory_per_sm->value : 100 * 1024;
  const int64_t fit =
      std::min({static_cast<int64_t>(kMostBlocks), ThreadsPerSm(hardware::ComputeCapability(device)) / threads,
                kRegisterFile / (registers * threads), shared / (kernel.shared_bytes + kSharedReserve)});
  return static_cast<int>(std::max<int64_t>(1, fit));
}

}  // namespace

Status CheckDevice(const hardware::Device& device) {
  if (hardware::ComputeCapability(device) > 0 && device.sm_count && device.clock_hz) return {};
  return MakeError(kNotCuda, fmt::format("`{}` is no CUDA GPU with `sm_count` and `clock`", device.name), {},
                   "choose an NVIDIA device: `hespas devices` lists them");
}

KernelTime TransferTime(const std::string& name, double bytes, const hardware::Device& device) {
  KernelTime made{.kernel = name, .memory_bytes = bytes, .bound = "memory"};
  made.memory_seconds = bytes / (device.memory_bandwidth.value * kMemoryShare);
  made.seconds = kLaunchSeconds + made.memory_seconds;
  return made;
}

Result<KernelTime> TimeOf(const Work& work, const hardware::Device& device) {
  const auto counts = MeanBlock(work.kernel, work.launch);
  if (!counts) return counts.error();
  KernelTime made{.kernel = work.kernel.name, .grid = work.launch.grid, .block = work.launch.block, .counts = *counts};
  made.registers = std::min(kMostRegisters, LiveRegisters(work.kernel));
  made.shared_bytes = work.kernel.shared_bytes + work.dynamic_shared.value_or(counts->shared_bytes);
  made.blocks_per_sm = Occupancy(made, device);

  const double clock = *device.clock_hz, sms = *device.sm_count, blocks = static_cast<double>(Volume(made.grid));
  const Bound busiest = Busiest(*counts, device);
  const auto wave = [&](double resident) { return std::max(counts->latency_cycles, resident * busiest.cycles); };
  const double at_once = sms * made.blocks_per_sm, whole = std::floor(blocks / at_once);
  made.waves = blocks / at_once;
  const double rest = std::ceil((blocks - whole * at_once) / sms);
  const double cycles = whole * wave(made.blocks_per_sm) + (rest > 0 ? wave(rest) : 0);

  made.l2_bytes = blocks * counts->sectors * 32;
  made.memory_bytes = work.buffer_bytes ? std::min(*work.buffer_bytes, made.l2_bytes) : made.l2_bytes;
  made.compute_seconds = cycles / clock;
  made.memory_seconds = made.memory_bytes / (device.memory_bandwidth.value * kMemoryShare);
  const double l2_rate = device.l2_bandwidth ? device.l2_bandwidth->value : sms * kPortBytes * clock;
  const double l2_seconds = made.l2_bytes / l2_rate;
  const double longest = std::max({made.compute_seconds, made.memory_seconds, l2_seconds});
  made.seconds = kLaunchSeconds + longest;
  made.bound = longest < kLaunchSeconds                        ? "launch"
               : longest == made.memory_seconds                ? "memory"
               : longest == l2_seconds                         ? "l2"
               : wave(1) > made.blocks_per_sm * busiest.cycles ? "latency"
                                                               : busiest.name;
  return made;
}

}  // namespace hespas::estimate::ptx
