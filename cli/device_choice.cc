#include "cli/device_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "estimate/registry.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

inline constexpr DiagnosticKind kNoDevice{"E0927",
                                          "No device was named. --device takes a preset (`hespas devices` lists them "
                                          "with their figures) or a JSON file of your own; "
                                          "HESPAS_DEVICE names one for all commands.",
                                          Outcome::kUsage};

}  // namespace

bool DeviceIsNamed(const CLI::App& command, const driver::RunOptions& run, Console& console) {
  const bool parts = !run.parts.devices.empty();
  if (command.get_option("--device")->count() > 0 || parts || estimate::Measures(run.estimate.estimator)) return true;
  console.diagnostics.Error(kNoDevice, "no device was named", {},
                            fmt::format("add --device NAME, one of: {}",
                                        fmt::join(hardware::PresetNames(hardware::PresetKind::kDevice), ", ")));
  console.PrintDiagnostics();
  return false;
}

}  // namespace hespas::cli
