#include "driver/presets.h"

#include "hardware/presets.h"

namespace hespas::driver {

std::optional<hardware::System> LoadSystemPreset(const std::string& name_or_path, Diagnostics& diagnostics) {
  const auto path = hardware::FindPreset(hardware::PresetKind::kSystem, name_or_path);
  if (!path) {
    diagnostics.Report(path.error());
    return std::nullopt;
  }
  auto system = hardware::LoadSystem(path->string(), {}, diagnostics);
  if (!system) {
    diagnostics.Report(system.error());
    return std::nullopt;
  }
  if (system->name.empty()) system->name = name_or_path;
  return std::move(*system);
}

}  // namespace hespas::driver
