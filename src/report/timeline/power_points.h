// What a device draws over the step, from what runs on it.
#pragma once

#include <vector>

#include "report/timeline/slices.h"

namespace hespas::report {

struct PowerFigures {
  double idle_w = 0;
  double link_w = 0;                 // more, while a communication is under way
  double most_w = 0;                 // what the device draws at most
  std::vector<double> of_structure;  // while a block of each distinct structure runs, idle power included
};

struct PowerPoint {
  uint32_t process = 0;  // index into Slices::processes
  Time start;
  double watts = 0;  // until the next point of the process
};

// By start; a process has one where its power changes, the first at the step's start, the last (idle) at its end.
std::vector<PowerPoint> PowerPoints(const StepView& step, const Slices& slices, const PowerFigures& figures);

}  // namespace hespas::report
