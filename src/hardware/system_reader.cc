// system.json and remote_memory.json (spec astra-sim sections 1.3, 1.4), and the loaders of system.h.
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

constexpr std::string_view kCollectiveKeys[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

const std::vector<std::string> kMemoryKeys = {"memory-type", "remote-mem-latency", "remote-mem-bw", "num-nodes",
                                              "num-npus-per-node"};

// Without effect in ASTRA-sim's analytical backends.
const std::vector<std::string> kIdleKeys = {"boost-mode", "intra-dimension-scheduling", "inter-dimension-scheduling"};

// What is written of a run, and figures of the device, which its own file has.
constexpr std::string_view kBesideTheNetwork[] = {"trace-enabled", "local-mem-bw", "peak-perf"};
constexpr std::string_view kBusKeys[] = {"model-shared-bus", "L", "o", "g", "G"};

// One value of system.json: how its key is called and how it is read; false if the value is of a wrong kind.
struct Setting {
  std::string key;
  std::function<bool(const json&, System&)> read;
};

bool IsNumber(const json& value) { return value.is_number() || value.is_boolean(); }

double NumberOf(const json& value) { return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>(); }

std::optional<int64_t> IntegerOf(const json& value) {
  if (!IsNumber(value)) return std::nullopt;
  const double number = NumberOf(value);  // fractions are cut off, as in ASTRA-sim
  if (!(std::fabs(number) < 2147483648.0)) return std::nullopt;
  return static_cast<int64_t>(number);
}

Setting Integer(std::string key, int64_t System::*member) {
  return {std::move(key), [member](const json& value, System& system) {
            const auto number = IntegerOf(value);
            if (number) system.*member = *number;
            return number.has_value();
          }};
}

// The unit of a file's bare numbers, in the base unit of its kind.
struct FileUnit {
  Unit kind;
  double size;
};
constexpr FileUnit kNanoseconds{Unit::kSeconds, 1e-9};

// A number in the file's unit, or a text with its own unit; nothing if it is neither, or negative.
std::optional<double> QuantityOf(const json& value, const FileUnit& unit) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    return number >= 0 ? std::optional(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const auto quantity = ParseQuantity(value.get<std::string>(), unit.kind);
  if (!quantity || !(*quantity >= 0)) return std::nullopt;
  // 10 ns are 10 of the file's units, not the product of two roundings that is cut off to 9.
  const double amount = *quantity / unit.size;
  const double whole = std::round(amount);
  return std::fabs(amount - whole) <= 1e-9 * whole ? whole : amount;
}

// Of figures that ASTRA-sim holds as whole numbers: bare ones are cut off as there, texts have to be whole.
std::optional<double> WholeOf(const json& value, const FileUnit& unit) {
  const auto amount = QuantityOf(value, unit);
  return value.is_string() && amount && *amount != std::floor(*amount) ? std::nullopt : amount;
}

Setting Number(std::string key, double System::*member, const FileUnit& unit) {
  return {std::move(key), [member, unit](const json& value, System& system) {
            const auto amount = QuantityOf(value, unit);
            if (amount) system.*member = *amount;
            return amount.has_value();
          }};
}

Setting Flag(std::string key, bool System::*member) {
  return {std::move(key), [member](const json& value, System& system) {
            if (!IsNumber(value)) return false;
            system.*member = NumberOf(value) != 0;
            return true;
          }};
}

Setting BusNumber(std::string key, double SharedBus::*member) {
  return {std::move(key), [member](const json& value, System& system) {
            const auto amount = WholeOf(value, kNanoseconds);
            if (amount) system.bus.*member = *amount;
            return amount.has_value();
          }};
}

bool ReadGapPerByte(const json& value, System& system) {
  if (!value.is_number() || !(value.get<double>() >= 0)) return false;
  system.bus.gap_per_byte = value.get<double>();
  return true;
}

bool ReadPolicy(const json& value, System& system) {
  static const std::vector<std::string> kPolicies = {"LIFO", "FIFO", "EXPLICIT"};
  const auto at =
      value.is_string() ? std::find(kPolicies.begin(), kPolicies.end(), value.get<std::string>()) : kPolicies.end();
  if (at == kPolicies.end()) return false;
  system.scheduling = static_cast<SchedulingPolicy>(at - kPolicies.begin());
  return true;
}

bool ReadOptimization(const json& value, System& system) {
  if (value != "baseline" && value != "localBWAware") return false;
  system.optimization =
      value == "baseline" ? CollectiveOptimization::kBaseline : CollectiveOptimization::kLocalBandwidthAware;
  return true;
}

std::optional<int64_t> DelayOf(const json& value) {
  if (!value.is_string()) return IntegerOf(value);
  const auto amount = WholeOf(value, kNanoseconds);
  return amount ? IntegerOf(json(*amount)) : std::nullopt;
}

bool ReadEndpointDelay(const json& value, System& system) {
  const auto number = DelayOf(value);
  if (!number || *number < 0) return false;
  system.endpoint_delay = *number;
  return true;
}

bool ReadAlgorithms(const json& value, CollectiveSettings& settings) {
  if (!value.is_array()) return false;
  std::vector<Algorithm> algorithms;
  for (const json& item : value) {
    const auto algorithm = item.is_string() ? ParseAlgorithm(item.get<std::string>()) : std::nullopt;
    if (!algorithm) return false;
    algorithms.push_back(*algorithm);
  }
  settings.algorithms = std::move(algorithms);
  return true;
}

bool ReadCustom(const json& value, CollectiveSettings& settings) {
  if (!value.is_array() || value.size() != 1 || !value[0].is_string()) return false;
  settings.custom = value[0].get<std::string>();
  return true;
}

std::vector<Setting> AllSettings() {
  std::vector<Setting> settings = {
      {"scheduling-policy", ReadPolicy},
      {"collective-optimization", ReadOptimization},
      {"endpoint-delay", ReadEndpointDelay},
      Integer("local-reduction-delay", &System::local_reduction_delay),
      Integer("active-chunks-per-dimension", &System::active_chunks),
      Integer("preferred-dataset-splits", &System::dataset_splits),
      Number("local-mem-bw", &System::memory_bandwidth, {Unit::kBytesPerSecond, 1e9}),
      Number("peak-perf", &System::peak_teraflops, {Unit::kFlopsPerSecond, 1e12}),
      Flag("roofline-enabled", &System::roofline),
      Flag("replay-only", &System::replay_only),
      Flag("trace-enabled", &System::trace_enabled),
      Flag("track-local-mem", &System::track_memory),
      {"local-mem-trace-filename",
       [](const json& value, System& system) {
         if (value.is_string()) system.memory_trace = value.get<std::string>();
         return value.is_string();
       }},
      BusNumber("L", &SharedBus::latency),
      BusNumber("o", &SharedBus::overhead),
      BusNumber("g", &SharedBus::gap),
      {"G", ReadGapPerByte},
      {"model-shared-bus",
       [](const json& value, System& system) {
         system.bus.enabled = IsNumber(value) && NumberOf(value) != 0;
         return IsNumber(value);
       }},
      {"per-node-custom-implementation", [](const json& value, System&) { return value.is_string(); }},
  };
  for (size_t i = 0; i < kNativeCollectives; ++i) {
    const std::string key = std::string(kCollectiveKeys[i]) + "-implementation";
    settings.push_back({key, [i](const json& v, System& s) { return ReadAlgorithms(v, s.collectives[i]); }});
    settings.push_back({key + "-custom", [i](const json& v, System& s) { return ReadCustom(v, s.collectives[i]); }});
  }
  return settings;
}

std::string HelpFor(std::string_view key) {
  if (key == "scheduling-policy") return "use LIFO, FIFO or EXPLICIT";
  if (key == "collective-optimization") return "use baseline or localBWAware";
  if (key == "endpoint-delay" || key == "L" || key == "o" || key == "g") return "a whole number of ns, or \"10 ns\"";
  if (key == "G") return "a number of ns a byte, without unit";
  if (key == "local-mem-bw") return "a number of GB/s, or \"3.35 TB/s\"";
  if (key == "peak-perf") return "a number of TFLOP/s, or \"989 TFLOP/s\"";
  if (key.ends_with("-custom")) return "use a list with one path prefix";
  if (key.ends_with("-implementation") && key != "per-node-custom-implementation") {
    return "use a list of ring, direct, direct<window>, halvingDoubling, doubleBinaryTree, oneRing, oneDirect, "
           "oneHalvingDoubling";
  }
  return {};
}

// Lists may not be longer than the network's dimensions, nor empty.
void CheckLengths(const PlacedJson& source, SystemReader& reader) {
  for (size_t i = 0; i < kNativeCollectives; ++i) {
    const auto& algorithms = reader.system.collectives[i].algorithms;
    if (!algorithms || reader.system.dimensions.empty()) continue;
    if (algorithms->size() <= reader.system.dimensions.size()) continue;
    const std::string key = std::string(kCollectiveKeys[i]) + "-implementation";
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

template <typename Keys>
bool Has(const Keys& keys, std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

bool SteersCollectives(std::string_view key, const System& system) {
  if (Has(kBusKeys, key)) return system.bus.enabled;
  return !Has(kIdleKeys, key) && !Has(kBesideTheNetwork, key);
}

}  // namespace

void ReadSystemJson(const PlacedJson& source, const json& object, SystemReader& reader) {
  if (!object.is_object()) {
    reader.diagnostics.Error(kBadSystem, "a system description is a JSON object", {.file = source.file()});
    return;
  }
  static const std::vector<Setting> kSettings = AllSettings();
  std::vector<std::string> known = kIdleKeys;
  for (const Setting& setting : kSettings) known.push_back(setting.key);
  for (const auto& [key, value] : object.items()) {
    const auto setting =
        std::find_if(kSettings.begin(), kSettings.end(), [&name = key](const Setting& s) { return s.key == name; });
    if (setting == kSettings.end()) {
      reader.UnknownKey(key, known, source.LocationOf(key));
    } else if (!setting->read(value, reader.system)) {
      reader.diagnostics.Error(kBadSystem, fmt::format("`{}` cannot be {}", key, JsonText(value).substr(0, 100)),
                               source.LocationOf(key), HelpFor(key));
    } else if (key == "per-node-custom-implementation") {
      ReadPerNodeYaml(value.get<std::string>(), source.LocationOf(key), reader);
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (Has(known, key) && SteersCollectives(key, reader.system))
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
