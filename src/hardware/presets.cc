#include "hardware/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/text/suggest.h"

namespace hespas::hardware {
namespace {

namespace fs = std::filesystem;

std::string_view FolderName(PresetKind kind) { return kind == PresetKind::kDevice ? "devices" : "systems"; }

bool HoldsPresets(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "devices", error) && fs::is_directory(folder / "systems", error);
}

// build/NAME/bin and an installation's bin: the data folder of one of the folders above, or share/hespas.
std::optional<fs::path> FolderNear(fs::path start) {
  constexpr int kLevels = 6;
  for (int level = 0; level < kLevels && !start.empty(); ++level, start = start.parent_path()) {
    for (const char* inside : {"share/hespas", "data"}) {
      if (HoldsPresets(start / inside)) return start / inside;
    }
    if (start == start.root_path()) break;
  }
  return std::nullopt;
}

fs::path& GivenFolder() {
  static fs::path folder;
  return folder;
}

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".json") || name == "." || name == "..";
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool EqualCaseAside(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// Presets whose names go on after `name`: of "A100" those of all boards and memories.
std::vector<std::string> Variants(std::string_view name, const std::vector<std::string>& presets) {
  std::vector<std::string> variants;
  for (const std::string& preset : presets) {
    const bool longer = preset.size() > name.size() && preset[name.size()] == '_';
    if (longer && EqualCaseAside(std::string_view(preset).substr(0, name.size()), name)) variants.push_back(preset);
  }
  return variants;
}

// "MI325X_256GB": a preset whose name leaves its only memory out.
bool IsWithMemory(std::string_view name, const fs::path& folder, const std::string& preset) {
  const bool longer = name.size() > preset.size() + 1 && name[preset.size()] == '_';
  if (!longer || !EqualCaseAside(name.substr(0, preset.size()), preset) || !name.ends_with("GB")) return false;
  const std::string_view memory = name.substr(preset.size() + 1, name.size() - preset.size() - 3);
  const auto text = ReadInput((folder / (preset + ".json")).string());
  return text && text->find(fmt::format("\"memory_capacity\": \"{} GB\"", memory)) != std::string::npos;
}

// Editions in the order in which a name is looked up.
std::vector<fs::path> Folders(const fs::path& data, PresetKind kind, PresetEdition edition) {
  std::vector<fs::path> folders;
  if (edition == PresetEdition::kPrototype) folders.push_back(data / "compat" / "prototype" / FolderName(kind));
  folders.push_back(data / FolderName(kind));
  return folders;
}

}  // namespace

Result<fs::path> DataFolder() {
  if (const char* given = std::getenv("HESPAS_DATA_DIR"); given != nullptr && *given != '\0') {
    if (HoldsPresets(given)) return fs::path(given);
    return MakeError(kNoDataFolder,
                     fmt::format("HESPAS_DATA_DIR is `{}`, which has no folders `devices` and `systems`", given));
  }
  if (!GivenFolder().empty()) return GivenFolder();
  const fs::path executable = ExecutablePath();
  if (const auto found = FolderNear(executable.parent_path())) return *found;
  return MakeError(kNoDataFolder, fmt::format("no presets found near `{}`", executable.string()), {},
                   "set HESPAS_DATA_DIR to the folder with `devices` and `systems`");
}

void SetDataFolder(fs::path folder) { GivenFolder() = std::move(folder); }

bool IsInlineJson(std::string_view name_or_text) {
  const size_t first = name_or_text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && name_or_text[first] == '{';
}

std::vector<std::string> PresetNames(PresetKind kind, PresetEdition edition) {
  std::vector<std::string> names;
  const auto data = DataFolder();
  if (!data) return names;
  for (const fs::path& folder : Folders(*data, kind, edition)) {
    const std::vector<std::string> more = NamesIn(folder);
    names.insert(names.end(), more.begin(), more.end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<fs::path> FindPreset(PresetKind kind, const std::string& name_or_path, PresetEdition edition) {
  if (IsPath(name_or_path)) return fs::path(name_or_path);
  const auto data = DataFolder();
  if (!data) return data.error();
  for (const fs::path& folder : Folders(*data, kind, edition)) {
    for (const std::string& name : NamesIn(folder)) {
      if (EqualCaseAside(name, name_or_path)) return folder / (name + ".json");
    }
    if (kind != PresetKind::kDevice) continue;
    for (const std::string& name : NamesIn(folder)) {
      if (IsWithMemory(name_or_path, folder, name)) return folder / (name + ".json");
    }
  }
  std::error_code error;
  if (fs::exists(name_or_path, error)) return fs::path(name_or_path);
  const std::vector<std::string> presets = PresetNames(kind, edition);
  const std::vector<std::string> variants =
      kind == PresetKind::kDevice ? Variants(name_or_path, presets) : std::vector<std::string>();
  if (variants.size() == 1) return FindPreset(kind, variants.front(), edition);
  if (!variants.empty()) {
    return MakeError(kUnknownPreset, fmt::format("`{}` is not one device but {}", name_or_path, variants.size()), {},
                     fmt::format("choose one of {}", fmt::join(variants, ", ")));
  }
  const std::string_view noun = kind == PresetKind::kDevice ? "device" : "system";
  const std::string list = fmt::format("`hespas {}` lists them", FolderName(kind));
  return MakeError(kUnknownPreset, fmt::format("no {} is called `{}`", noun, name_or_path), {},
                   DidYouMean(name_or_path, presets, list));
}

std::optional<Device> LoadDevice(const std::string& name_or_path, Diagnostics& diagnostics, PresetEdition edition) {
  if (IsInlineJson(name_or_path)) return ReadDevice(name_or_path, "<device>", diagnostics);
  const auto path = FindPreset(PresetKind::kDevice, name_or_path, edition);
  if (!path) {
    diagnostics.Report(path.error());
    return std::nullopt;
  }
  const auto text = ReadInput(path->string());
  if (!text) {
    diagnostics.Report(text.error());
    return std::nullopt;
  }
  return ReadDevice(*text, path->string(), diagnostics);
}

}  // namespace hespas::hardware
