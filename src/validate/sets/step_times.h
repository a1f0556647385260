// Whole training steps: the pipeline's answer against measured ones, from the plain exports in data/workloads.
//
// - Left out: the one constant that step times fix (the issue rate of fused kernels) is fitted without a device, or
//   without a size of program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr DiagnosticKind kNoStepProgram{
    "W0980", "A measured step has no program in data/workloads; it is left out of the comparison."};

struct StepRow {
  std::string system;
  std::string device;
  std::string workload;
  std::string group;  // "llama", "resnet"
  std::string program;
  double seconds = 0;
};

std::optional<std::vector<StepRow>> ReadStepRows(Diagnostics& diagnostics);
bool AddStepTimes(Groups& groups, const std::string& mode, Diagnostics& diagnostics);
bool AddStepTimesHeldOut(Groups& groups, Diagnostics& diagnostics);

}  // namespace hespas::validate
