// Systems by preset name, path (folder or JSON file), JSON text or a cluster in one line (hardware/cluster.h).
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "hardware/system.h"

namespace hespas::driver {

// Reports an unknown name (with the nearest) or a defect of the files into `diagnostics`.
std::optional<hardware::System> LoadSystemPreset(const std::string& name_or_path, Diagnostics& diagnostics);

}  // namespace hespas::driver
