// How well a run uses its devices, and what a reader must know before believing its times: the lines that the terminal,
// comparisons and warnings share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/run_result.h"

namespace hespas::report {

struct FigureLine {
  std::string label;   // "throughput"
  std::string figure;  // "5.79 k"
  std::string note;    // "tokens/s per device, 23.2 k in all"
};

// Throughput, MFU and HFU. Only HFU where the program does not tell what it recomputes.
std::vector<FigureLine> EfficiencyLines(const result::RunResult& result);

// A sentence where the program exceeds the device's memory, else "".
std::string FitWarning(const result::RunResult& result);

// A sentence that names the kernels without a known cost and their share of operations and bytes, else "".
std::string UnknownWarning(const result::RunResult& result);

// What the kernels without a known cost have of all operations and bytes.
struct UnknownShare {
  double ops = 0;
  double bytes = 0;
};
UnknownShare ShareOf(const result::RunResult& result, const result::UnknownKernel& kernel);

// What a run works through, for telling whether step times may be compared.
struct WorkOfStep {
  double flops = 0;  // of all devices
  std::optional<double> batch;
  std::string unit;  // "tokens"
};
WorkOfStep WorkOf(const result::RunResult& result);
// A sentence where runs do unequal work, so that their step times do not rank them, else "".
std::string UnequalWork(const std::vector<WorkOfStep>& runs);

// "45.2 k"; three figures.
std::string HumanNumber(double value);

}  // namespace hespas::report
