#include "driver/configuration/presets.h"

#include "hardware/cluster.h"
#include "hardware/presets.h"

namespace hespas::driver {

std::optional<hardware::System> LoadSystemPreset(const std::string& name_or_path, Diagnostics& diagnostics) {
  auto system = hardware::LoadNamedSystem(name_or_path, {}, diagnostics);
  if (!system) {
    diagnostics.Report(system.error());
    return std::nullopt;
  }
  if (system->name.empty()) system->name = hardware::IsInlineJson(name_or_path) ? "custom" : name_or_path;
  return std::move(*system);
}

}  // namespace hespas::driver
