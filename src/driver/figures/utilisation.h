// How much of the device's peak a step uses: datasheet rates, whatever model estimated the times.
#pragma once

#include "driver/stages/estimate.h"

namespace hespas::driver {

struct PeakTimes {
  Time arithmetic;    // all operations at the peak rates of their types
  Time contractions;  // of it matmuls and convolutions
  Time traffic;       // all bytes at the peak memory bandwidth
};

PeakTimes PeakTimesOf(const Prepared& prepared, const Estimated& estimated);

}  // namespace hespas::driver
