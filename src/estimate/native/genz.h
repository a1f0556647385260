// GenZ's collectives in closed form: 5 us + f (n-1) (latency + bytes / (n bandwidth)), f = 2 for an all-reduce, else 1;
// point to point latency + bytes / bandwidth (spec external-simulators section 4).
#pragma once

#include "estimate/calibrated/collective.h"
#include "hardware/matrix_unit.h"

namespace hespas::estimate::native {

struct GenzLink {
  double bytes_per_second = 1;
  double latency_s = 0;
};

// From the device's `genz` section, else its interconnect; a gigabyte of a datasheet counts as 2^30, as in GenZ.
GenzLink GenzLinkOf(const hardware::Device& device);

// In seconds.
double GenzCollective(const GenzLink& link, const calibrated::CollectiveSpec& spec);

}  // namespace hespas::estimate::native
