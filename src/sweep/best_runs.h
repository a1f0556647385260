// The best point of each program as a run of its own, for the headline that `hespas run` gives it.
#pragma once

#include <vector>

#include "sweep/answer/answers.h"
#include "sweep/file/points.h"

namespace hespas::sweep {

struct BestRun {
  uint64_t point = 0;
  std::string command;  // the run that gives this answer
  result::RunResult result;
};

// Programs without a point that meets the constraints are left out, and so is what was measured: a second measurement
// would not be that of the row.
std::vector<BestRun> BestRuns(const SweepFile& file, const Points& points, const std::vector<Json>& rows);

}  // namespace hespas::sweep
