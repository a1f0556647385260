// A simulated step as tracks with slices and arrows, for timeline files of any format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/step/step_view.h"

namespace hespas::report {

struct Track {
  uint32_t process = 0;  // index into Slices::processes
  std::string name;      // "compute", "communicator 3", "all ranks"
  bool compute = false;
};

struct Process {
  std::string name;   // "rank 0", "ranks 0 to 63"
  uint32_t rank = 0;  // the simulated one
};

struct Slice {
  uint32_t track = 0;
  Time start;
  Time end;
  uint32_t node = 0;            // index into the program of its rank
  std::vector<uint64_t> flows;  // arrows that begin here: communication that something waited for
  uint64_t waited_for = 0;      // the arrow that ends here, 0: none
};

struct Slices {
  std::vector<Process> processes;
  std::vector<Track> tracks;
  std::vector<Slice> slices;  // by track, then start
};

// Slices of one track do not overlap: a communicator with several collectives in flight gets further tracks.
Slices MakeSlices(const StepView& step);

}  // namespace hespas::report
