#include "report/timeline/power_points.h"

#include <algorithm>
#include <map>

namespace hespas::report {
namespace {

// What runs of one process at a moment.
struct Running {
  double compute_w = 0;  // beyond idle
  int64_t communications = 0;
};

double BeyondIdle(const StepView& step, uint32_t block, const PowerFigures& figures) {
  if (block >= step.estimates.of_block.size()) return 0;
  const uint32_t distinct = step.estimates.of_block[block];
  return distinct < figures.of_structure.size() ? figures.of_structure[distinct] - figures.idle_w : 0;
}

}  // namespace

std::vector<PowerPoint> PowerPoints(const StepView& step, const Slices& slices, const PowerFigures& figures) {
  std::map<std::pair<Time, uint32_t>, Running> changes;
  for (uint32_t process = 0; process < slices.processes.size(); ++process) {
    changes[{Time(), process}];
    changes[{step.step_time, process}];
  }
  for (const Slice& slice : slices.slices) {
    const Track& track = slices.tracks[slice.track];
    const uint32_t rank = slices.processes[track.process].rank;
    Running& begin = changes[{slice.start, track.process}];
    Running& end = changes[{slice.end, track.process}];
    if (!track.compute) {
      ++begin.communications;
      --end.communications;
      continue;
    }
    const uint32_t block = step.traces.programs[step.traces.program_of_rank[rank]].nodes[slice.node].block;
    const double watts = BeyondIdle(step, block, figures);
    begin.compute_w += watts;
    end.compute_w -= watts;
  }
  std::vector<Running> now(slices.processes.size());
  std::vector<PowerPoint> points;
  for (const auto& [at, change] : changes) {
    Running& running = now[at.second];
    running.compute_w += change.compute_w;
    running.communications += change.communications;
    const double links = running.communications > 0 ? figures.link_w : 0;
    const double watts = figures.idle_w + links + std::max(0.0, running.compute_w);
    points.push_back({.process = at.second, .start = at.first, .watts = std::min(watts, figures.most_w)});
  }
  return points;
}

}  // namespace hespas::report
