#include "driver/tool_keys.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hespas::driver {
namespace {

constexpr std::string_view kPath = "--tool-path";
constexpr std::string_view kConfig = "--tool-config";
constexpr std::string_view kMapping = "--tool-mapping";
constexpr std::string_view kClock = "--tool-clock";
constexpr std::string_view kChips = "--tool-chips";

// Spec python-prototype, section 13; COCOSSim counts in GHz.
constexpr ToolKey kKeys[] = {
    {"cocossim", "cocossim_path", kPath},
    {"cocossim", "frequency", kClock, 1e9},
    {"cocossim", "chips", kChips, 1},
    {"onnxim", "binary_path", kPath},
    {"onnxim", "device_path", kConfig},
    {"onnxim", "frequency", kClock, 1},
    {"onnxim", "engine_path", ""},
    {"onnxim", "output_dir", ""},
    {"onnxim", "conv_path", ""},
    {"onnxim", "model_list_path", ""},
    {"zigzag_onnx", "accelerator", kConfig},
    {"zigzag_onnx", "mapping", kMapping},
    {"zigzag_onnx", "frequency", kClock, 1},
};

}  // namespace

std::vector<ToolKey> ToolKeysOf(std::string_view method) {
  std::vector<ToolKey> keys;
  for (const ToolKey& key : kKeys) {
    if (key.method == method) keys.push_back(key);
  }
  return keys;
}

bool SetTool(std::string_view option, const std::string& value, estimate::EstimatorOptions& options) {
  if (option == kPath) options.tool_path = value;
  if (option == kConfig) options.tool_config = value;
  if (option == kMapping) options.tool_mapping = value;
  if (option != kClock && option != kChips) return true;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(number > 0 && number <= 1e15)) return false;
  if (option == kClock) {
    options.tool_clock_hz = number;
    return true;
  }
  options.tool_chips = static_cast<int>(std::min(number, 1e6));
  return number == std::floor(number);
}

}  // namespace hespas::driver
