#include "cli/options/device_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "estimate/registry.h"
#include "hardware/cluster.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

inline constexpr DiagnosticKind kNoDevice{"E0927",
                                          "No device was named. --device takes a preset (`hespas devices` lists them "
                                          "with their figures) or a JSON file of your own; "
                                          "HESPAS_DEVICE names one for all commands.",
                                          Outcome::kUsage};

std::string DeviceOfSystem(const driver::RunOptions& run) {
  if (run.system.name == driver::kAutoSystem) return {};
  Diagnostics ignored;  // what is wrong with the system is told where it is used
  const auto system = hardware::LoadNamedSystem(run.system.name, {}, ignored);
  return system.ok() ? system->device : std::string();
}

}  // namespace

bool DeviceIsNamed(const CLI::App& command, driver::RunOptions& run, Console& console) {
  const bool parts = !run.parts.devices.empty();
  if (command.get_option("--device")->count() > 0 || parts || estimate::Measures(run.estimate.estimator)) return true;
  if (const std::string device = DeviceOfSystem(run); !device.empty()) {
    run.device.name = device;
    return true;
  }
  console.diagnostics.Error(kNoDevice, "no device was named", {},
                            fmt::format("add --device NAME, one of: {}",
                                        fmt::join(hardware::PresetNames(hardware::PresetKind::kDevice), ", ")));
  console.PrintDiagnostics();
  return false;
}

}  // namespace hespas::cli
