// Simulators that are programs of their own, one call an operation: COCOSSim and ONNXim.
//
// - Every call runs in a temporary folder of its own with a time limit; equal operations are simulated once.
// - What they cannot cost, and what they fail on, goes to the fallback.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "estimate/external/op_model.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kNoTool{
    "E0573",
    "An external simulator was chosen but not found. Install it and name it with --tool-path, or put it into PATH.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kNoToolConfig{
    "E0574", "The external simulator needs a description of the hardware: --tool-config FILE.", Outcome::kUsage};

struct ToolOptions {
  std::string path;    // of the program; empty: found in PATH
  std::string config;  // onnxim: the NPU's JSON file
  double clock_hz = 0.94e9;
  std::optional<double> asked_clock_hz;  // onnxim: in place of its JSON file's
  int chips = 1;
  std::chrono::milliseconds limit{60000};
};

// Matmuls and square convolutions, in cycles of a 128 x 128 weight-stationary array (spec external-simulators section
// 1).
Result<std::unique_ptr<OpModel>> MakeCocosSim(const ToolOptions& options);
// Matmuls and square convolutions, in cycles of the configured NPU (spec external-simulators section 2).
Result<std::unique_ptr<OpModel>> MakeOnnxim(const ToolOptions& options);

}  // namespace hespas::estimate
