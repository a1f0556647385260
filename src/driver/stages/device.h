// The device of a run: a file's figures, and what replaces or changes them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "hardware/device.h"
#include "hardware/device_figures.h"

namespace hespas::driver {

struct RunOptions;

struct DeviceOptions {
  std::string name = "A100_SXM_80GB";       // a preset, a file, or JSON text
  hardware::DeviceFigures figures;          // instead of those of the file
  std::optional<Price> price;               // instead of the file's
  std::map<std::string, double> constants;  // that replace the device's own constants of the calibrated model
};

// The device with the figures that replace those of its file.
std::optional<hardware::Device> DeviceOf(const RunOptions& options, Diagnostics& diagnostics);
// DeviceOf with the run's constants and changes.
std::optional<hardware::Device> ChangedDeviceOf(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
