// Presets by name: data/devices, data/systems and the prototype's older figures in data/compat.
//
// - The data folder is $HESPAS_DATA_DIR, or found from the executable: the source tree's data/ or share/hespas beside
// bin/.
// - A name that contains '/' or ends in ".json" is a path; any other name is looked up without regard to case.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hardware/device.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kUnknownPreset{
    "E0806",
    "No preset of that name ships with this installation. `hespas devices` and `hespas systems` list them; a path "
    "to a file (or for systems a folder) works in their place.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNoDataFolder{
    "E0807",
    "The folder with the presets was not found beside the executable. Set HESPAS_DATA_DIR to the installed "
    "share/hespas or to the source tree's data folder."};

enum class PresetKind { kDevice, kSystem };

// Which figures: corrected (the default) or the Python prototype's.
enum class PresetEdition { kCurrent, kPrototype };

Result<std::filesystem::path> DataFolder();

// For programs whose executable is elsewhere (a Python interpreter): where to look if HESPAS_DATA_DIR is not set. To be
// called before anything else of this library, from one thread.
void SetDataFolder(std::filesystem::path folder);

// Names in alphabetical order; empty without a data folder.
std::vector<std::string> PresetNames(PresetKind kind, PresetEdition edition = PresetEdition::kCurrent);

// The file of a preset, or the path itself where `name_or_path` is one; an unknown name gets a suggestion. The
// beginning of a device's name is enough where one preset goes on so ("H100"); where several do, the error lists them
// ("A100").
Result<std::filesystem::path> FindPreset(PresetKind kind, const std::string& name_or_path,
                                         PresetEdition edition = PresetEdition::kCurrent);

// Whether a device or system is given by its JSON text (an object) in place of a name.
bool IsInlineJson(std::string_view name_or_text);

// FindPreset and ReadDevice; a JSON text is read itself. Reports into `diagnostics`.
std::optional<Device> LoadDevice(const std::string& name_or_path, Diagnostics& diagnostics,
                                 PresetEdition edition = PresetEdition::kCurrent);

}  // namespace hespas::hardware
