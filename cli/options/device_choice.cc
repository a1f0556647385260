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

// The device that the system names; nothing where its description has errors, which are told.
std::optional<std::string> DeviceOfSystem(const driver::RunOptions& run, Console& console) {
  if (run.system.name == driver::kAutoSystem) return "";
  Diagnostics found;
  auto system = hardware::LoadNamedSystem(run.system.name, {}, found);
  if (system.ok()) return system->device;  // its warnings come where it is used
  for (const Diagnostic& diagnostic : found.all()) console.diagnostics.Report(diagnostic);
  console.diagnostics.Report(system.error());
  return std::nullopt;
}

}  // namespace

bool DeviceIsNamed(const CLI::App& command, driver::RunOptions& run, Console& console) {
  const bool parts = !run.parts.devices.empty();
  if (command.get_option("--device")->count() > 0 || parts || estimate::Measures(run.estimate.estimator)) return true;
  const std::optional<std::string> device = DeviceOfSystem(run, console);
  if (device && !device->empty()) {
    run.device.name = *device;
    return true;
  }
  // A description that has errors may name its device; a preset that does not exist names none.
  const std::string& system = run.system.name;
  if (device || !(hardware::IsOwnDescription(system) || hardware::IsClusterText(system))) {
    console.diagnostics.Error(kNoDevice, "no device was named", {},
                              fmt::format("add --device NAME, one of: {}",
                                          fmt::join(hardware::PresetNames(hardware::PresetKind::kDevice), ", ")));
  }
  console.PrintDiagnostics();
  return false;
}

}  // namespace hespas::cli
