// The settings of system.json, and which of them steer collectives.
#include <algorithm>
#include <cmath>

#include "hardware/system_reader.h"

namespace hespas::hardware {
namespace {

using nlohmann::json;

constexpr std::string_view kCollectiveKeys[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

// What is written of a run, and figures of the device, which its own file has.
constexpr std::string_view kBesideTheNetwork[] = {"trace-enabled", "local-mem-bw", "peak-perf"};
constexpr std::string_view kBusKeys[] = {"model-shared-bus", "L", "o", "g", "G"};

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
    const std::string key = ImplementationKey(i);
    settings.push_back({key, [i](const json& v, System& s) { return ReadAlgorithms(v, s.collectives[i]); }});
    settings.push_back({key + "-custom", [i](const json& v, System& s) { return ReadCustom(v, s.collectives[i]); }});
  }
  return settings;
}

template <typename Keys>
bool Has(const Keys& keys, std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

}  // namespace

const std::vector<Setting>& SystemSettings() {
  static const std::vector<Setting> kSettings = AllSettings();
  return kSettings;
}

const std::vector<std::string>& IdleSettings() {
  static const std::vector<std::string> kKeys = {"boost-mode", "intra-dimension-scheduling",
                                                 "inter-dimension-scheduling"};
  return kKeys;
}

bool SteersCollectives(std::string_view key, const System& system) {
  if (Has(kBusKeys, key)) return system.bus.enabled;
  return !Has(IdleSettings(), key) && !Has(kBesideTheNetwork, key);
}

std::optional<double> WholeOf(const json& value, const FileUnit& unit) {
  const auto amount = QuantityOf(value, unit);
  return value.is_string() && amount && *amount != std::floor(*amount) ? std::nullopt : amount;
}

std::string ImplementationKey(size_t collective) {
  return std::string(kCollectiveKeys[collective]) + "-implementation";
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

}  // namespace hespas::hardware
