// The estimator `ptx`: blocks and operations compiled by iree-compile for a CUDA target, costed by what their kernels
// do.
//
// - Equal programs are compiled once. What iree-compile refuses goes to the fallback.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "estimate/external/op_model.h"
#include "estimate/ptx/iree_compiler.h"
#include "estimate/ptx/kernel_simulator.h"

namespace hespas::estimate::ptx {

struct PtxOptions {
  std::string compiler;            // path of iree-compile; empty: found in PATH
  std::string kernel_simulator;    // path of a program that simulates single kernels; empty: the closed form
  std::optional<double> clock_hz;  // of the simulated cycles; default: the device's
  std::chrono::milliseconds limit{60000};
};

// Everything that turns programs into kernels and their times on one device.
class KernelCoster {
 public:
  static Result<KernelCoster> Make(const hardware::Device& device, const PtxOptions& options);

  // The commands of a StableHLO program in order, with their times.
  Result<std::vector<KernelTime>> Cost(const std::string& program) const;
  std::string Fingerprint() const;

 private:
  Result<KernelTime> CostCommand(const Command& command) const;

  hardware::Device device_;
  Compiler compiler_;
  KernelSimulator simulator_;
  std::string target_;
  double clock_hz_ = 0;
};

Result<std::unique_ptr<OpModel>> MakePtx(const hardware::Device& device, const PtxOptions& options);

}  // namespace hespas::estimate::ptx
