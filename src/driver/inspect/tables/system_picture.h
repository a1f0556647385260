// The levels of a network as a picture: a row for each, outermost on top.
#pragma once

#include <string>

#include "hardware/system.h"

namespace hespas::driver {

// An SVG document.
std::string SystemPicture(const hardware::System& system);

}  // namespace hespas::driver
