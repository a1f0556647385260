// Why a block takes as long as it does: the formula with numbers in it, each parameter with its source, what binds.
#pragma once

#include <string>
#include <vector>

#include "hardware/device.h"
#include "hardware/system.h"
#include "report/step/step_view.h"
#include "report/text/table.h"

namespace hespas::report {

struct Parameter {
  std::string name;    // "memory bandwidth"
  std::string value;   // "1.55 TB/s"
  std::string source;  // "datasheet: ...", "calibration set: ...", "option --set ..."
};

struct Explanation {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // "kind", "matmul"
  std::vector<std::string> ops;                            // that the block holds, fused ones included, in order
  std::vector<std::string> formula;                        // one line each
  std::vector<Parameter> factors;                          // of the time, with what each follows from
  std::vector<Parameter> parameters;
  std::string binds;
  std::string next;  // what would bind then
};

// What explanations need beyond the step.
struct ExplainContext {
  const StepView& step;
  const hardware::Device& device;
  const hardware::System* system = nullptr;
  std::string estimator;
  std::vector<std::string> changes;    // --set
  std::vector<Parameter> calibration;  // constants of the calibrated model, "gemm.launch_us"
};

Explanation ExplainBlock(const ExplainContext& context, graph::BlockId block);
// A collective by its number in order of start; `row` counts from 0 and must exist.
Explanation ExplainCollective(const ExplainContext& context, size_t row);

std::string ToText(const Explanation& explanation);
// One JSON object.
std::string ToJson(const Explanation& explanation, int indent = 2);
// A row for each fact, line of the formula, parameter and bound.
Table ToTable(const Explanation& explanation);

}  // namespace hespas::report
