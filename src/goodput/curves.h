// How an answer changes with the mean time between failures, the checkpoint interval, and the number of devices.
#pragma once

#include <vector>

#include "goodput/estimate.h"

namespace hespas::goodput {

struct CurvePoint {
  double at = 0;         // seconds
  double closed = 0;     // expected length of the run, in closed form; s
  double simulated = 0;  // and by simulation
};

// The same tokens on more devices, each with its own share of a batch: the global batch grows with them.
struct ScalePoint {
  int64_t devices = 0;
  Answer answer;
};

struct Curves {
  std::vector<CurvePoint> mtbf;  // with the best interval of each
  std::vector<CurvePoint> interval;
  std::vector<ScalePoint> devices;
  int64_t knee = 0;  // most devices at which doubling them again saves less than a third of the time; 0: none seen
};

Result<Curves> CurvesOf(const Answer& answer);

// An eighth to twice as many devices.
std::vector<int64_t> AroundDevices(int64_t devices);

// Numbers of devices that the program cannot be carried over to are left out.
std::vector<ScalePoint> Scale(const Answer& answer, const driver::RunOptions& run, const std::vector<int64_t>& devices);

int64_t Knee(const std::vector<ScalePoint>& points);

}  // namespace hespas::goodput
