// What of a setting's value can be wrong before anything runs: names of presets, fields of files, quantities.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/suggest.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/stragglers.h"
#include "driver/pipeline/run.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "hardware/system.h"
#include "sweep/file/settings.h"
#include "sweep/file/system_fields.h"

namespace hespas::sweep {
namespace {

Status FirstError(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) continue;
    Error error = diagnostic;
    error.location = {};
    return error;
  }
  return {};
}

Status CheckDevice(const driver::RunOptions& options) {
  Diagnostics diagnostics;
  const auto device = driver::ChangedDeviceOf(options, diagnostics);
  return FirstError(diagnostics);
}

// Keys that the reader of systems does not know are only warnings to it.
Status CheckSystem(const driver::RunOptions& options) {
  Diagnostics diagnostics;
  hardware::System any;
  if (const Status changed = driver::ChangeSystem(options.changes, any); !changed) return changed;
  if (options.system.name == driver::kAutoSystem) return {};
  const auto file = ReadSystemFile(options.system.name);
  if (!file) return file.error();
  const auto system = hardware::ParseSystem(file->dump(), "<system>", {.strict = true}, diagnostics);
  if (const Status first = FirstError(diagnostics); !first) return first;
  return system ? Status() : Status(system.error());
}

Status CheckEstimator(const std::string& name) {
  std::vector<std::string> names;
  for (const estimate::EstimatorEntry& entry : estimate::Estimators()) names.emplace_back(entry.name);
  if (name.starts_with("exec:") || std::find(names.begin(), names.end(), name) != names.end()) return {};
  return MakeError(kBadSetting, fmt::format("there is no estimator `{}`", name), {}, DidYouMean(name, names));
}

}  // namespace

Status CheckSettings(SettingsReader& reader, const std::string& name, const Settings& settings) {
  const auto options = reader.OptionsOf(settings);
  if (!options) return options.error();
  if (name == "estimator") return CheckEstimator(options->estimate.estimator);
  if (name == "device" || name.starts_with("device.")) return CheckDevice(*options);
  if (name == "system" || name.starts_with("system.")) return CheckSystem(*options);
  if (name == "straggler") {
    constexpr size_t kAny = size_t{1} << 20;
    const auto scale = driver::ComputeScale(options->network.stragglers, kAny);
    if (!scale) return scale.error();
  }
  return {};
}

}  // namespace hespas::sweep
