#include "driver/inspect/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/content.h"
#include "base/system/file.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "driver/configuration/run_configuration.h"
#include "driver/inspect/program_findings.h"
#include "hardware/device.h"
#include "hardware/presets.h"
#include "hardware/system.h"
#include "ir/facts/platform.h"
#include "read/chakra/rank_manifest.h"
#include "read/read.h"

namespace hespas::driver {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".schema.json";

std::optional<std::string> Failed(const Error& error, Diagnostics& diagnostics) {
  if (!diagnostics.has_errors()) diagnostics.Report(error);
  return std::nullopt;
}

std::optional<std::string> CheckSystem(const std::string& path, Diagnostics& diagnostics) {
  const auto system = hardware::LoadSystem(path, {.strict = true}, diagnostics);
  if (!system) return Failed(system.error(), diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return fmt::format("a system of {} NPUs in {} dimensions", system->npus(), system->dimensions.size());
}

std::optional<std::string> CheckDevice(const std::string& path, const std::string& text, Diagnostics& diagnostics) {
  const auto device = hardware::ReadDevice(text, path, diagnostics);
  if (!device) return std::nullopt;
  return fmt::format("the device {}: {:g} TFLOP/s where no datatype is named, {:g} GB/s", device->name,
                     device->peak_flops.value / 1e12, device->memory_bandwidth.value / 1e9);
}

std::optional<std::string> CheckProgram(const std::string& path, Content text, Diagnostics& diagnostics) {
  const auto module = read::ReadText(path, std::move(text), {}, diagnostics);
  if (!module) return Failed(module.error(), diagnostics);
  ReportFindings(*module, diagnostics);
  const auto lowered = ir::LoweredFor(*module);
  return fmt::format("a program of {} operations{}", module->op_count(),
                     lowered ? fmt::format(", lowered for {}", ir::NameOf(lowered->platform)) : "");
}

std::optional<std::string> CheckRanks(const std::string& path, Diagnostics& diagnostics) {
  const auto classes = read::chakra::ReadManifest(path, 0);
  if (!classes) return Failed(classes.error(), diagnostics);
  size_t npus = 0;
  for (const auto& ranks : *classes) npus += ranks.ranks.size();
  return fmt::format("traces of {} NPUs in {} classes", npus, classes->size());
}

bool IsConfiguration(const nlohmann::json& json) {
  return json.contains("perf_estimator") || json.contains("mlir_file") || json.contains("split_strategy");
}

std::optional<std::string> CheckConfiguration(const std::string& path, const std::string& text,
                                              Diagnostics& diagnostics) {
  const auto configuration = ReadRunConfiguration(path, diagnostics);
  if (!configuration) return std::nullopt;
  if (configuration->describes_device) return CheckDevice(path, text, diagnostics);
  return fmt::format("a configuration of {} settings", configuration->options.size());
}

// A JSON text whose first brace is followed by a key; MLIR's aliases and attributes start otherwise.
bool LooksLikeJson(const fs::path& path, std::string_view text) {
  return path.extension() == ".json" || text.substr(0, 4096).find("{\"") == 0;
}

}  // namespace

Result<std::vector<std::string>> SchemaNames() {
  const auto folder = hardware::DataFolder();
  if (!folder) return folder.error();
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(*folder / "schemas", error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> SchemaText(const std::string& name) {
  const auto names = SchemaNames();
  if (!names) return names.error();
  if (std::find(names->begin(), names->end(), name) == names->end()) {
    return MakeError(kUnknownSchema, fmt::format("there is no schema `{}`", name), {},
                     DidYouMean(name, *names, fmt::format("there are {}", fmt::join(*names, ", "))));
  }
  return ReadInput((*hardware::DataFolder() / "schemas" / (name + std::string(kSuffix))).string());
}

std::optional<std::string> CheckFile(const std::string& path, Diagnostics& diagnostics) {
  std::error_code error;
  if (fs::is_directory(path, error)) return CheckSystem(path, diagnostics);
  auto content = ReadContent(path);
  if (content) content = Decompress(*std::move(content), path);
  if (!content) return Failed(content.error(), diagnostics);
  if (!LooksLikeJson(path, content->view())) return CheckProgram(path, *std::move(content), diagnostics);
  const std::string text(content->view());
  const auto json = ParseJson(text, path);
  if (!json) return Failed(json.error(), diagnostics);
  if (json->is_object() && json->contains("classes")) return CheckRanks(path, diagnostics);
  if (json->is_object() && IsConfiguration(*json)) return CheckConfiguration(path, text, diagnostics);
  const bool system =
      json->is_object() && (json->contains("network") || json->contains("system") || json->contains("cluster"));
  return system ? CheckSystem(path, diagnostics) : CheckDevice(path, text, diagnostics);
}

}  // namespace hespas::driver
