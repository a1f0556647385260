// Parts of the reading of system descriptions; see system.h for the whole.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/unit_text.h"
#include "hardware/placed_json.h"
#include "hardware/system.h"

namespace hespas::hardware {

// Collects errors and warnings of one description.
struct SystemReader {
  System& system;
  const LoadOptions& options;
  Diagnostics& diagnostics;

  void UnknownKey(std::string_view key, const std::vector<std::string>& known, Location location);
};

// Where a key of the network's description stands.
using KeyPlaces = std::function<Location(const char* key)>;

// The four parallel lists of network.yml.
struct NetworkLists {
  std::vector<std::string> topology;
  std::vector<int64_t> npus;
  std::vector<double> bandwidth;
  std::vector<double> latency;
};

// The unit of a file's bare numbers, in the base unit of its kind.
struct FileUnit {
  Unit kind;
  double size;
};
inline constexpr FileUnit kNanoseconds{Unit::kSeconds, 1e-9};

// Of figures that ASTRA-sim holds as whole numbers: bare ones are cut off as there, texts have to be whole.
std::optional<double> WholeOf(const nlohmann::json& value, const FileUnit& unit);

// One value of system.json: how its key is called and how it is read; false if the value is of a wrong kind.
struct Setting {
  std::string key;
  std::function<bool(const nlohmann::json&, System&)> read;
};

const std::vector<Setting>& SystemSettings();
// Keys without effect in ASTRA-sim's analytical backends.
const std::vector<std::string>& IdleSettings();
std::string ImplementationKey(size_t collective);
// What a setting's value may be.
std::string HelpFor(std::string_view key);
// Whether what a file states so means anything for its collectives.
bool SteersCollectives(std::string_view key, const System& system);

void ReadNetworkYaml(const std::string& text, const std::string& file, SystemReader& reader);
void ReadNetworkJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
void SetNetwork(const NetworkLists& lists, const KeyPlaces& place, SystemReader& reader);
void ReadSystemJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
void ReadMemoryJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
// What a file without `system` means: ring or direct collectives by the links, chunks as one, no endpoint's delay.
void SetDefaultSettings(System& system);
void ReadPerNodeYaml(const std::string& path, const Location& from, SystemReader& reader);

}  // namespace hespas::hardware
