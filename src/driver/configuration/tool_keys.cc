#include "driver/configuration/tool_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text/json.h"

namespace hespas::driver {
namespace {

constexpr std::string_view kPath = "--tool-path";
constexpr std::string_view kConfig = "--tool-config";
constexpr std::string_view kMapping = "--tool-mapping";
constexpr std::string_view kClock = "--tool-clock";
constexpr std::string_view kChips = "--tool-chips";
constexpr std::string_view kCompiler = "--block-compiler";
constexpr std::string_view kRunner = "--block-runner";
constexpr std::string_view kSample = "--sample";
constexpr std::string_view kPlugin = "--plugin";
constexpr std::string_view kClockOfBlocks = "--clock";
constexpr int kSampleOfTrue = 3;  // blocks of each family, where the prototype's key says just `true`

// Spec python-prototype section 13; COCOSSim counts in GHz. The prototype had no pjrt, and no choice of clocks.
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
    {"xla", "xla_translate_path", kCompiler},
    {"xla", "hlo_runner_main_path", kRunner},
    {"xla", "sample", kSample},
    {"xla", "translate", ""},
    {"pjrt", "plugin", kPlugin},
    {"pjrt", "sample", kSample},
    {"pjrt", "cold", kColdCaches},
    {"pjrt", "clock", kClockOfBlocks},
    {"iree", "iree_compile", kCompiler},
    {"iree", "iree_benchmark", kRunner},
    {"iree", "sample", kSample},
    {"iree", "clock", kClockOfBlocks},
    {"iree", "mlir_function_name", ""},
    {"iree", "compile", kNestedKeys},
    {"compile", "target-backends", "--iree-backend"},
    {"compile", "device", "--iree-device"},
    {"compile", "extra-args", "--iree-compile-arg"},
    {"compile", "extra-runtime-args", "--iree-run-arg"},
};

constexpr std::pair<std::string_view, std::string estimate::ProfileOptions::*> kBlockTexts[] = {
    {kCompiler, &estimate::ProfileOptions::compiler},
    {kRunner, &estimate::ProfileOptions::runner},
    {kPlugin, &estimate::ProfileOptions::plugin},
    {"--iree-backend", &estimate::ProfileOptions::target_backend},
    {"--iree-device", &estimate::ProfileOptions::target_device},
};

}  // namespace

std::vector<ToolKey> ToolKeysOf(std::string_view method) {
  std::vector<ToolKey> keys;
  for (const ToolKey& key : kKeys) {
    if (key.method == method) keys.push_back(key);
  }
  return keys;
}

std::optional<ToolSettings> SettingsOf(const ToolKey& key, const nlohmann::json& value) {
  ToolSettings settings;
  if (key.option.empty()) return settings;
  if (key.option == kNestedKeys) {
    if (!value.is_object()) return std::nullopt;
    for (const ToolKey& inner : ToolKeysOf(key.key)) {
      const auto found = value.find(inner.key);
      if (found == value.end()) continue;
      const auto values = found->is_array() ? *found : nlohmann::json::array({*found});
      for (const auto& one : values) {
        if (!one.is_string()) return std::nullopt;
        settings.emplace_back(inner.option, one.get<std::string>());
      }
    }
    return settings;
  }
  if (value.is_structured()) return std::nullopt;
  std::string text = value.is_string() ? value.get<std::string>() : JsonText(value);
  if (value.is_number() && key.scale != 0) text = fmt::format("{}", value.get<double>() * key.scale);
  if (key.option == kSample && value.is_boolean()) {
    if (!value.get<bool>()) return settings;
    text = std::to_string(kSampleOfTrue);
  }
  settings.emplace_back(key.option, text);
  return settings;
}

bool SetTool(std::string_view option, const std::string& value, estimate::EstimatorOptions& options) {
  if (option == kPath) options.tool_path = value;
  if (option == kConfig) options.tool_config = value;
  if (option == kMapping) options.tool_mapping = value;
  for (const auto& [name, text] : kBlockTexts) {
    if (option == name) options.profile.*text = value;
  }
  if (option == kColdCaches) {
    options.profile.cold = value == "true";
    return value == "true" || value == "false";
  }
  if (option == kClockOfBlocks) {
    options.profile.clock = value;
    return value == "wall" || value == "cpu";
  }
  if (option == "--iree-compile-arg") options.profile.compile_arguments.push_back(value);
  if (option == "--iree-run-arg") options.profile.run_arguments.push_back(value);
  if (option != kClock && option != kChips && option != kSample) return true;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !(number > 0 && number <= 1e15)) return false;
  if (option == kClock) {
    options.tool_clock_hz = number;
    return true;
  }
  if (option == kSample) {
    options.profile.sample = static_cast<int>(std::min(number, 1e6));
    return number == std::floor(number);
  }
  options.tool_chips = static_cast<int>(std::min(number, 1e6));
  return number == std::floor(number);
}

}  // namespace hespas::driver
