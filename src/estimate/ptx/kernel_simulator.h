// An external program that simulates single kernels (Accel-Sim or GPGPU-Sim behind a script) in place of the closed
// form.
//
// It is called as `PROGRAM kernel.ptx launch.json` in a temporary folder. launch.json: {"kernel": name, "grid": [x, y,
// z], "block": [x, y, z], "shared_memory": bytes, "registers": of a thread, "target": "sm_80", "buffer_bytes": of all
// its buffers}. What it prints last as `gpu_tot_sim_cycle = N` or {"cycles": N} is its answer.
#pragma once

#include <chrono>
#include <string>

#include "estimate/ptx/iree_compiler.h"

namespace hespas::estimate::ptx {

inline constexpr DiagnosticKind kKernelSimulatorFailed{"E0580",
                                                       "The program given by --kernel-simulator crashed, took too "
                                                       "long, or printed no cycles. docs/estimators.md describes "
                                                       "how it is called.",
                                                       Outcome::kToolFailed};

struct KernelSimulator {
  std::string path;    // empty: there is none
  std::string digest;  // of its file
  std::chrono::milliseconds limit{60000};
};

Result<KernelSimulator> FindKernelSimulator(const std::string& path, std::chrono::milliseconds limit);
Result<double> SimulateCycles(const KernelSimulator& simulator, const std::string& ptx, const KernelTime& kernel,
                              const std::string& target, double buffer_bytes);

}  // namespace hespas::estimate::ptx
