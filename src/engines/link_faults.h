// Slow and lost links for engines that route: the system's links as a graph.
#pragma once

#include <optional>

#include "base/result.h"
#include "hardware/links/link_faults.h"

namespace hespas::engines {

// None where no link is slow or lost: engines then build the dimensions themselves.
Result<std::optional<hardware::LinkGraph>> GraphOf(const hardware::LinkTexts& links, const hardware::System& system);

// For engines that do not route.
Error NoFaultsHere();

}  // namespace hespas::engines
