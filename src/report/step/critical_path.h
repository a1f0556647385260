// What the step waits for, from its first picosecond to its last.
//
// - Rows follow each other without a gap: their durations add up to the step time. Stretches in which the slowest
// device
//   does nothing that the simulation can name are rows of their own.
#pragma once

#include <string>
#include <vector>

#include "report/step/step_view.h"
#include "report/text/table.h"

namespace hespas::report {

struct PathRow {
  Time start;
  Time duration;
  uint32_t rank = 0;
  std::string node;  // "stablehlo.all_gather"; with several: of the longest
  std::string why;   // "compute", "transfer", "waits for NPU 3", "nothing to do"
  uint32_t block = trace::kNoBlock;
  size_t nodes = 1;
};

std::vector<PathRow> CriticalPath(const StepView& step);
// Neighbours of one rank and one cause joined.
std::vector<PathRow> Joined(const std::vector<PathRow>& path);

// `human`: units for people and a total; else picoseconds.
Table PathTable(const std::vector<PathRow>& path, bool human);

}  // namespace hespas::report
