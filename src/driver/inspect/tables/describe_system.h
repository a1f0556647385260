// A system as a drawing in text: its levels from the outside, each with links, latency and what it leaves of the level
// inside it (oversubscription).
#pragma once

#include <string>

#include "hardware/system.h"

namespace hespas::driver {

std::string DescribeSystem(const hardware::System& system);

// "dimension 1: switch of 64, 50 GB/s a link, 1.5 us; 1 : 9 of dimension 0's bandwidth"
std::string LevelLine(const hardware::System& system, size_t d);

}  // namespace hespas::driver
