// A system as a drawing in text: its levels from the outside, each with links, latency and what it leaves of the level
// inside it (oversubscription).
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"

namespace hespas::driver {

std::optional<std::string> DescribeSystem(const std::string& name, Diagnostics& diagnostics);

}  // namespace hespas::driver
