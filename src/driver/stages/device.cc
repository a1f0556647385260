#include "driver/stages/device.h"

#include "driver/configuration/changes.h"
#include "driver/stages/run_options.h"
#include "hardware/presets.h"

namespace hespas::driver {

std::optional<hardware::Device> DeviceOf(const RunOptions& options, Diagnostics& diagnostics) {
  const auto edition = options.compat ? hardware::PresetEdition::kPrototype : hardware::PresetEdition::kCurrent;
  auto device = hardware::LoadDevice(options.device.name, diagnostics, edition);
  if (device) hardware::ApplyFigures(options.device.figures, *device);
  if (device && options.device.price) device->price = options.device.price;
  return device;
}

std::optional<hardware::Device> ChangedDeviceOf(const RunOptions& options, Diagnostics& diagnostics) {
  auto device = DeviceOf(options, diagnostics);
  if (!device) return std::nullopt;
  for (const auto& [constant, value] : options.device.constants) device->calibration[constant] = value;
  if (const Status status = ChangeDevice(options.changes, *device); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return device;
}

}  // namespace hespas::driver
