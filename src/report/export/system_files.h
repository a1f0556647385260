// Writes a system as the three files that ASTRA-sim reads.
#pragma once

#include <string>

#include "hardware/system.h"

namespace hespas::report {

std::string SystemJson(const hardware::System& system);
std::string NetworkYaml(const hardware::System& system);
std::string RemoteMemoryJson(const hardware::System& system);

}  // namespace hespas::report
