// What can vary between points: the options of `hespas run` by name, and any figure of the device or system.
//
// - `device.FIELD` and `system.FIELD` name a figure as --set does (device.memory_bandwidth: a factor such as "2x" too)
//   or, for all others, a key of the device's or system's file (device.interconnect.bandwidth, system.topology).
// - A point's options are those that `hespas run` would get: CommandOf says which.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "driver/pipeline/run.h"
#include "sweep/file/sweep_source.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kUnknownAxis{
    "E1003",
    "An axis or setting of a sweep is neither an option of a point nor a figure of the device (device.FIELD) or "
    "system (system.FIELD). `hespas help sweep` and docs/sweeps.md list them.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kBadSetting{
    "E1004", "The value of an axis or setting of a sweep is not one that this setting can have.", Outcome::kUsage};

// One point's settings in the order of the file: "device" -> "H100_80GB", "system.bandwidth" -> "50 GB/s".
using Settings = std::vector<std::pair<std::string, Json>>;

// The names without those of figures.
std::vector<std::string> SettingNames();

// A value as it stands in a table: texts without quotes.
std::string TextOf(const Json& value);

// Turns settings into options. Texts of devices and systems are read once; thread-safe.
class SettingsReader {
 public:
  Result<driver::RunOptions> OptionsOf(const Settings& settings);

 private:
  Result<Json> FileOf(bool device, const std::string& name);

  std::mutex mutex_;
  std::map<std::pair<bool, std::string>, Json> files_;
};

// What is wrong with the value of `name` among `settings`, as far as that shows without running anything.
Status CheckSettings(SettingsReader& reader, const std::string& name, const Settings& settings);

// The command that gives the same answer, as a shell takes it.
std::string CommandOf(const driver::RunOptions& options);

}  // namespace hespas::sweep
