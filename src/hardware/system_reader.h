// Parts of the reading of system descriptions; see system.h for the whole.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

void ReadNetworkYaml(const std::string& text, const std::string& file, SystemReader& reader);
void ReadNetworkJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
void SetNetwork(const NetworkLists& lists, const KeyPlaces& place, SystemReader& reader);
void ReadSystemJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
void ReadMemoryJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader);
// What a file without `system` means: ring or direct collectives by the links, chunks as one, no endpoint's delay.
void SetDefaultSettings(System& system);
void ReadPerNodeYaml(const std::string& path, const Location& from, SystemReader& reader);

}  // namespace hespas::hardware
