// The built-in estimators, by name; "exec:PATH" is a program that speaks the JSON-lines protocol.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "estimate/calibrated/command_buffers.h"
#include "estimate/estimator.h"
#include "estimate/facts.h"
#include "estimate/native/dataflow.h"
#include "estimate/profile/profile_options.h"
#include "hardware/device.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kUnknownEstimator{
    "E0510", "No estimator of that name is built in. `hespas help estimators` lists them.", Outcome::kUsage};

struct EstimatorOptions {
  bool compat = false;                  // the Python prototype's formulas, defects included (roofline only)
  std::string fallback = "calibrated";  // costs what the chosen estimator cannot
  native::Dataflow dataflow = native::Dataflow::kWeightStationary;  // of scalesim
  std::string tool_path;                                            // of an external simulator; empty: found in PATH
  std::string tool_config;                                          // its description of the hardware
  std::string tool_mapping;                                         // of zigzag_onnx: how operations lie on the array
  std::optional<double> tool_clock_hz;  // of the simulated hardware; default: the device file's, or the tool's
  int tool_chips = 1;                   // of cocossim
  double tool_limit_s = 60;             // of one answer of an external tool
  ProfileOptions profile;               // of estimators that measure
  std::string kernel_simulator;         // of ptx: a program that simulates single kernels
  std::shared_ptr<const Facts> facts;   // of the module that is going to be estimated, if kept
  calibrated::CommandBuffers buffers;   // of that module
};

struct EstimatorEntry {
  std::string_view name;
  std::string_view summary;
  Result<std::unique_ptr<Estimator>> (*make)(const hardware::Device& device, const EstimatorOptions& options);
};

std::span<const EstimatorEntry> Estimators();

// Whether it compiles and runs blocks, so that blocks should be large and no optimiser of ours comes first.
bool Measures(std::string_view name);

Result<std::unique_ptr<Estimator>> MakeEstimator(std::string_view name, const hardware::Device& device,
                                                 const EstimatorOptions& options);

}  // namespace hespas::estimate
