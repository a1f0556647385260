// The prototype's options of external simulators: keys of `hardware` in configurations, flags of the stand-alone
// commands. Its work folders (output_dir, conv_path, model_list_path) and engine_path are accepted and not needed:
// every call has a folder of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "estimate/registry.h"

namespace hespas::driver {

struct ToolKey {
  std::string_view method;
  std::string_view key;
  std::string_view option;  // of `hespas run`; empty: accepted and not needed
  double scale = 0;         // numbers: to the option's unit (Hz, chips); 0: a text
};

// Of `option`: the key's value is an object with further keys.
inline constexpr std::string_view kNestedKeys = "{}";

// The one option without a value: as a key it is true or false.
inline constexpr std::string_view kColdCaches = "--cold";

std::vector<ToolKey> ToolKeysOf(std::string_view method);

// The options that a key's value represents, with their values as on the command line; nothing where it is no such
// value.
using ToolSettings = std::vector<std::pair<std::string, std::string>>;
std::optional<ToolSettings> SettingsOf(const ToolKey& key, const nlohmann::json& value);

// Sets what `option` (of ToolKey) sets; `value` is as on the command line. False where it is no good number.
bool SetTool(std::string_view option, const std::string& value, estimate::EstimatorOptions& options);

}  // namespace hespas::driver
