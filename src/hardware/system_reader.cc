// system.json and remote_memory.json (spec astra-sim sections 1.3, 1.4; settings: system_settings.cc), and the loaders
// of system.h.
#include "hardware/system_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <tuple>

#include "base/schema_version.h"
#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "base/text/unit_text.h"
#include "hardware/cluster.h"

namespace hespas::hardware {
namespace {

using nlohmann::json;

const std::vector<std::string> kMemoryKeys = {"memory-type", "remote-mem-latency", "remote-mem-bw", "num-nodes",
                                              "num-npus-per-node"};

// Lists may not be longer than the network's dimensions, nor empty.
void CheckLengths(const PlacedJson& source, SystemReader& reader) {
  for (size_t i = 0; i < kNativeCollectives; ++i) {
    const auto& algorithms = reader.system.collectives[i].algorithms;
    if (!algorithms || reader.system.dimensions.empty()) continue;
    if (algorithms->size() <= reader.system.dimensions.size()) continue;
    const std::string key = ImplementationKey(i);
    reader.diagnostics.Error(kBadSystem,
                             fmt::format("`{}` has {} entries, but the network has {} dimensions", key,
                                         algorithms->size(), reader.system.dimensions.size()),
                             source.LocationOf(key));
  }
}

Result<System> Finish(System system, const Diagnostics& diagnostics, size_t errors_before) {
  if (diagnostics.error_count() == errors_before) return system;
  return MakeError(kBadSystem, "the system description has errors", {}, "correct what the messages above name");
}

}  // namespace

void SystemReader::UnknownKey(std::string_view key, const std::vector<std::string>& known, Location location) {
  if (std::find(known.begin(), known.end(), key) != known.end()) return;
  const std::string message = fmt::format("unknown key `{}`", key);
  if (options.strict) {
    diagnostics.Error(kUnknownSystemKeyError, message, std::move(location), DidYouMean(key, known));
  } else {
    diagnostics.Warning(kUnknownSystemKey, message, std::move(location), DidYouMean(key, known, "it is ignored"));
  }
}

namespace {

// Adds to what the file states, with the place of the first.
void State(std::string key, Location at, StatedInFile& stated) {
  const Location& first = stated.settings_at;
  const bool before = at.file == first.file && std::tie(at.line, at.column) < std::tie(first.line, first.column);
  if (stated.settings.empty() || before) stated.settings_at = std::move(at);
  stated.settings.push_back(std::move(key));
}

}  // namespace

void ReadSystemJson(const PlacedJson& source, const json& object, SystemReader& reader) {
  if (!object.is_object()) {
    reader.diagnostics.Error(kBadSystem, "a system description is a JSON object", {.file = source.file()});
    return;
  }
  const std::vector<Setting>& settings = SystemSettings();
  std::vector<std::string> known = IdleSettings();
  for (const Setting& setting : settings) known.push_back(setting.key);
  for (const auto& [key, value] : object.items()) {
    const auto setting =
        std::find_if(settings.begin(), settings.end(), [&name = key](const Setting& s) { return s.key == name; });
    if (setting == settings.end()) {
      reader.UnknownKey(key, known, source.LocationOf(key));
    } else if (!setting->read(value, reader.system)) {
      reader.diagnostics.Error(kBadSystem, fmt::format("`{}` cannot be {}", key, JsonText(value).substr(0, 100)),
                               source.LocationOf(key), HelpFor(key));
    } else if (key == "per-node-custom-implementation") {
      ReadPerNodeYaml(value.get<std::string>(), source.LocationOf(key), reader);
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end() && SteersCollectives(key, reader.system))
      State(key, source.LocationOf(key), reader.system.stated);
  }
  CheckLengths(source, reader);
}

void ReadMemoryJson(const PlacedJson& source, const json& object, SystemReader& reader) {
  static const std::vector<std::string> kKinds = {"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                                  "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"};
  const auto bad = [&](std::string_view key, std::string help = {}) {
    reader.diagnostics.Error(kBadSystem, fmt::format("remote memory: `{}` is missing or has a wrong value", key),
                             source.LocationOf(key), std::move(help));
  };
  if (!object.is_object()) return bad("memory-type");
  for (const auto& [key, value] : object.items()) reader.UnknownKey(key, kMemoryKeys, source.LocationOf(key));
  RemoteMemory& memory = reader.system.memory;
  const json type = object.value("memory-type", json());
  const std::string name = type.is_string() ? type.get<std::string>() : std::string();
  const auto kind = std::find(kKinds.begin(), kKinds.end(), name);
  if (kind == kKinds.end()) return bad("memory-type", DidYouMean(name, kKinds, "use NO_MEMORY_EXPANSION"));
  memory.kind = static_cast<MemoryKind>(kind - kKinds.begin());
  if (memory.kind != MemoryKind::kNone) State("remote_memory", source.LocationOf("memory-type"), reader.system.stated);
  struct Figure {
    const char* key;
    uint64_t* member;
    FileUnit unit;
    const char* help;
  };
  constexpr FileUnit kCount{Unit::kNumber, 1};
  constexpr const char* kBandwidths = "a whole number of GB/s, 1 or more, or \"64 GB/s\"";
  const Figure figures[] = {{"remote-mem-latency", &memory.latency, kNanoseconds, "a whole number of ns, or \"2 us\""},
                            {"remote-mem-bw", &memory.bandwidth, {Unit::kBytesPerSecond, 1e9}, kBandwidths},
                            {"num-nodes", &memory.nodes, kCount, "a whole number"},
                            {"num-npus-per-node", &memory.npus_per_node, kCount, "a whole number"}};
  for (const Figure& figure : figures) {
    if (!object.contains(figure.key)) continue;
    const auto amount = WholeOf(object.at(figure.key), figure.unit);
    if (!amount || *amount > 1e15) return bad(figure.key, figure.help);
    *figure.member = static_cast<uint64_t>(*amount);
  }
  if (memory.kind == MemoryKind::kNone) return;
  if (memory.bandwidth == 0) bad("remote-mem-bw", kBandwidths);
  if (memory.kind == MemoryKind::kPerNode && memory.npus_per_node == 0)
    bad("num-npus-per-node", "a whole number, 1 or more");
}

Result<System> LoadSystem(const SystemFiles& files, const LoadOptions& options, Diagnostics& diagnostics) {
  System system;
  system.name = files.system;
  SystemReader reader{system, options, diagnostics};
  const size_t before = diagnostics.error_count();
  const Result<std::string> network = ReadInput(files.network);
  if (!network) return network.error();
  ReadNetworkYaml(*network, files.network, reader);
  const auto read_json = [&](const std::string& path, auto read) -> Status {
    const Result<std::string> text = ReadInput(path);
    if (!text) return text.error();
    const Result<PlacedJson> source = PlacedJson::Parse(*text, path, kSystemSyntax);
    if (!source) return source.error();
    read(*source, source->root(), reader);
    return {};
  };
  if (Status read = read_json(files.system, ReadSystemJson); !read) return read.error();
  if (!files.remote_memory.empty()) {
    if (Status read = read_json(files.remote_memory, ReadMemoryJson); !read) return read.error();
  }
  return Finish(std::move(system), diagnostics, before);
}

Result<System> LoadSystem(const std::string& path, const LoadOptions& options, Diagnostics& diagnostics) {
  namespace fs = std::filesystem;
  std::error_code unused;
  if (fs::is_directory(path, unused)) {
    const fs::path folder = path;
    const fs::path memory = folder / "remote_memory.json";
    const SystemFiles files{.system = (folder / "system.json").string(),
                            .network = (folder / "network.yml").string(),
                            .remote_memory = fs::exists(memory, unused) ? memory.string() : ""};
    return LoadSystem(files, options, diagnostics);
  }
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  return ParseSystem(*text, path, options, diagnostics);
}

namespace {

// {"cluster": "H100_80GB 8x64 ib=400Gbit/s"} in the place of network and system.
Result<System> ClusterFile(const PlacedJson& source, Diagnostics& diagnostics) {
  const json& root = source.root();
  static const std::vector<std::string> kKeys = {"cluster", "name",    "description", "device",
                                                 "source",  "sources", "$schema",     kSchemaVersionKey};
  for (const auto& [key, value] : root.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
    return MakeError(kBadSystem, fmt::format("a file with `cluster` has no key `{}`", key), source.LocationOf(key),
                     DidYouMean(key, kKeys, "describe the network by `cluster`, or by `network` and `system`"));
  }
  if (!root.at("cluster").is_string())
    return MakeError(kBadSystem, "`cluster` is a text", source.LocationOf("cluster"),
                     "\"H100_80GB 8x64 ib=400Gbit/s\"");
  auto system = ParseCluster(root.at("cluster").get<std::string>(), diagnostics);
  if (!system) {
    Error error = system.error();
    error.location = source.LocationOf("cluster");
    return error;
  }
  system->stated.counts_at = source.LocationOf("cluster");
  if (root.contains("name") && root.at("name").is_string()) system->name = root.at("name").get<std::string>();
  return system;
}

}  // namespace

Result<System> ParseSystem(std::string_view text, const std::string& name, const LoadOptions& options,
                           Diagnostics& diagnostics) {
  const Result<PlacedJson> source = PlacedJson::Parse(text, name, kSystemSyntax);
  if (!source) return source.error();
  const json& root = source->root();
  if (root.is_object() && root.contains("cluster")) return ClusterFile(*source, diagnostics);
  const auto is_object = [&](const char* part) {
    return root.is_object() && root.contains(part) && root.at(part).is_object();
  };
  const bool has_settings = root.is_object() && root.contains("system");
  for (const char* part : {"network", "system"}) {
    if (is_object(part) || (part == std::string_view("system") && !has_settings)) continue;
    return MakeError(kBadSystem, fmt::format("a system has an object `{}`", part), {.file = name},
                     "a system file is one object: network, and where ASTRA-sim's settings count system and "
                     "remote_memory");
  }
  if (auto fault = SchemaVersionFault(root, 1))
    return MakeError(kJsonBadValue, *std::move(fault), source->LocationOf(kSchemaVersionKey));
  System system;
  SystemReader reader{system, options, diagnostics};
  const size_t before = diagnostics.error_count();
  system.name = root.value("name", json(name)).is_string() ? root.value("name", json(name)).get<std::string>() : name;
  if (root.contains("device") && root.at("device").is_string()) system.device = root.at("device").get<std::string>();
  static const std::vector<std::string> kParts = {"network",     "system", "remote_memory", "name",
                                                  "description", "source", "sources",       kSchemaVersionKey,
                                                  "$schema",     "notes",  "device"};
  for (const auto& [key, value] : root.items()) reader.UnknownKey(key, kParts, source->LocationOf(key));
  ReadNetworkJson(*source, root.at("network"), reader);
  if (has_settings) {
    ReadSystemJson(*source, root.at("system"), reader);
  } else {
    SetDefaultSettings(system);
  }
  if (root.contains("remote_memory")) ReadMemoryJson(*source, root.at("remote_memory"), reader);
  return Finish(std::move(system), diagnostics, before);
}

}  // namespace hespas::hardware
