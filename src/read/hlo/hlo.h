// Reads XLA's HLO text ("HloModule ...") into an ir::Module.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

Result<ir::Module> ReadHloText(std::string path, std::string text, Diagnostics& diagnostics);

}  // namespace hespas::read
