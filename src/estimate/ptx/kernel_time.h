// Time of one kernel launch from its counts: occupancy, then the roofline of one multiprocessor, wave by wave.
//
// - A wave takes as long as its slowest warp needs alone, or as what its resident blocks ask of the busiest unit
// (tensor
//   cores, lanes, schedulers, shared memory, the port to L2).
// - The launch takes as long as its waves, or its traffic with L2 and memory, and a fixed cost before.
#pragma once

#include <string>
#include <vector>

#include "estimate/ptx/block_run.h"
#include "hardware/device.h"

namespace hespas::estimate::ptx {

inline constexpr DiagnosticKind kNotCuda{"E0578",
                                         "The estimator `ptx` compiles for NVIDIA GPUs: the device's `architecture` "
                                         "must be sm_NN, and `sm_count` and `clock` "
                                         "must be given.",
                                         Outcome::kUsage};

struct KernelTime {
  std::string kernel;
  Extent grid = {1, 1, 1}, block = {1, 1, 1};
  Counts counts;             // of the mean block
  int registers = 0;         // of a thread
  int64_t shared_bytes = 0;  // of a block
  int blocks_per_sm = 0;     // that fit
  double waves = 0;
  double memory_bytes = 0;  // to and from memory: each byte of its buffers once, or less
  double l2_bytes = 0;
  double seconds = 0;
  double compute_seconds = 0;
  double memory_seconds = 0;
  std::string bound;  // "tensor", "lanes", "special", "issue", "shared", "l2 port", "latency", "l2", "memory",
                      // "launch", "simulated"
};

// A launch with what it may touch.
struct Work {
  Kernel kernel;
  Launch launch;
  std::optional<int64_t> dynamic_shared;  // bytes, where the launch tells; else as far as accesses reach
  std::optional<double> buffer_bytes;     // sum of its buffers
};

// Fails for devices that are no CUDA GPUs with a known number of multiprocessors and clock.
Status CheckDevice(const hardware::Device& device);
// A copy or fill of so many bytes, read and written.
KernelTime TransferTime(const std::string& name, double bytes, const hardware::Device& device);
Result<KernelTime> TimeOf(const Work& work, const hardware::Device& device);

}  // namespace hespas::estimate::ptx
