#include "driver/configuration/presets.h"

#include "hardware/presets.h"

namespace hespas::driver {

namespace {

Result<hardware::System> Load(const std::string& name_or_path, Diagnostics& diagnostics) {
  if (hardware::IsInlineJson(name_or_path)) return hardware::ParseSystem(name_or_path, "<system>", {}, diagnostics);
  const auto path = hardware::FindPreset(hardware::PresetKind::kSystem, name_or_path);
  if (!path) return path.error();
  return hardware::LoadSystem(path->string(), {}, diagnostics);
}

}  // namespace

std::optional<hardware::System> LoadSystemPreset(const std::string& name_or_path, Diagnostics& diagnostics) {
  auto system = Load(name_or_path, diagnostics);
  if (!system) {
    diagnostics.Report(system.error());
    return std::nullopt;
  }
  if (system->name.empty()) system->name = hardware::IsInlineJson(name_or_path) ? "custom" : name_or_path;
  return std::move(*system);
}

}  // namespace hespas::driver
