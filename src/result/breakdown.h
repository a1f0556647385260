// Where the time of a step goes, summed over all devices.
//
// - Each list adds up to `total` (step time x devices) to the picosecond: computation, communication that nothing
// hides,
//   and idle time; hidden communication does not count.
// - Layers are absent where neither names nor locations of the program tell them.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace hespas::result {

struct TimeShare {
  std::string name;
  Time time;
  int64_t blocks = 0;  // of the program; 0 for idle time
};

struct Breakdown {
  Time total;
  std::vector<TimeShare> kinds;  // largest first, idle last
  std::vector<TimeShare> layers;
  std::vector<TimeShare> bounds;  // compute, memory, launch, network, ...
};

}  // namespace hespas::result
