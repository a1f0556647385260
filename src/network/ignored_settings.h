// Settings of a system file that the calibrated model of collectives does not use: they steer ASTRA-sim's.
#pragma once

#include <string>
#include <vector>

#include "hardware/system.h"

namespace hespas::network {

// Keys of system.json whose values differ from ASTRA-sim's own defaults, in the order of the file's specification.
std::vector<std::string> IgnoredSettings(const hardware::System& system);

}  // namespace hespas::network
