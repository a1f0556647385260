// A configuration file (the prototype's keys, and those of `hespas run`) in the terms of the command's options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "hardware/device_figures.h"

namespace hespas::driver {

struct ConfiguredOption {
  std::string option;  // "--split"; "PROGRAM"
  std::string value;   // as it would be on the command line
  Location at;
};

struct RunConfiguration {
  std::vector<ConfiguredOption> options;
  hardware::DeviceFigures figures;
  bool describes_device = false;  // its `hardware` is enough of a device on its own
};

// Every defect of the file is reported, unknown keys with the nearest known one.
std::optional<RunConfiguration> ReadRunConfiguration(const std::string& path, Diagnostics& diagnostics);

}  // namespace hespas::driver
