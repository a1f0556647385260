// Runs the points of a sweep over a pool of threads.
//
// - A point that fails is a row with its error; only what concerns the whole sweep stops it.
// - `stop` is asked before each point: points under way finish.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "sweep/answer/row.h"
#include "sweep/file/points.h"
#include "sweep/store.h"

namespace hespas::sweep {

struct SweepOptions {
  unsigned threads = 0;                       // 0: one for each core
  size_t first = 0;                           // of the points, by place
  size_t end = SIZE_MAX;                      // one behind the last
  Store* store = nullptr;                     // where rows go; those that it has are left out
  std::vector<std::string>* lines = nullptr;  // or here, by place
  const std::atomic<bool>* stop = nullptr;
  Progress* progress = nullptr;
};

struct RunCounts {
  size_t points = 0;  // asked for
  size_t known = 0;   // there already
  size_t done = 0;
  size_t failed = 0;  // of those done
  bool stopped = false;
};

Result<RunCounts> RunPoints(const SweepFile& file, const Points& points, const SweepOptions& options);

// The row of one point.
driver::RunOptions OptionsOfPoint(const SweepFile& file, const Settings& values, SettingsReader& reader, Row& row);

struct CostEstimate {
  size_t points = 0;
  size_t measured = 0;
  double seconds = 0;  // with `threads`
  unsigned threads = 1;
};
// Runs some points, evenly spread, for about two seconds at most.
CostEstimate EstimateCost(const SweepFile& file, const Points& points, unsigned threads);

}  // namespace hespas::sweep
