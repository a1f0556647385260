// Presets as tables: all devices or systems, or every figure of one with its source.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "report/text/table.h"

namespace hespas::driver {

std::optional<report::Table> DeviceTable(Diagnostics& diagnostics);
std::optional<report::Table> DeviceFigures(const std::string& name, Diagnostics& diagnostics);
std::optional<report::Table> SystemTable(Diagnostics& diagnostics);
std::optional<report::Table> SystemFigures(const std::string& name, Diagnostics& diagnostics);
// Of the network that `--system auto` means for so many devices.
std::optional<report::Table> AutoSystemFigures(const std::string& device, size_t npus, Diagnostics& diagnostics);

}  // namespace hespas::driver
