// Each collective of a step with the algorithm that ran it and the bandwidth it reached.
#pragma once

#include <string>
#include <vector>

#include "hardware/system.h"
#include "report/step/step_view.h"

namespace hespas::report {

struct CollectiveRow {
  const result::CollectiveUse* use = nullptr;
  std::string op;         // "all_gather"
  std::string algorithm;  // "ring", "direct, then ring" for two dimensions
  uint32_t block = trace::kNoBlock;
  double bandwidth = 0;  // bytes/s that cross the links of one member, waiting omitted
};

// In order of start; empty where the simulation was not asked to explain itself. `system` may be nullptr.
std::vector<CollectiveRow> CollectiveRows(const StepView& step, const hardware::System* system);

}  // namespace hespas::report
