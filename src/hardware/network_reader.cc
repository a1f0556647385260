// The lists of a network, from JSON (spec astra-sim section 1.2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/json.h"
#include "base/text/suggest.h"
#include "base/text/unit_text.h"
#include "hardware/cluster.h"
#include "hardware/links/link_limits.h"
#include "hardware/presets.h"
#include "hardware/system_reader.h"

namespace hespas::hardware {
namespace {

constexpr int64_t kMostNpus = int64_t{1} << 30;  // of a dimension
const std::vector<std::string> kJsonKeys = {"topology", "npus_count", "bandwidth", "latency", "between_hosts"};

// A figure beyond these is one with a wrong unit: no link is as slow or as fast.
void CheckDimension(const NetworkDimension& dimension, size_t at, const KeyPlaces& place, SystemReader& reader) {
  const auto bad = [&](const char* key, std::string what, std::string help) {
    reader.diagnostics.Error(kBadSystem, fmt::format("dimension {}: {}", at, what), place(key), std::move(help));
  };
  if (!(dimension.bandwidth > 0)) {
    bad("bandwidth", "the bandwidth must be above 0", "with its unit: \"450 GB/s\" or \"400 Gbit/s\"");
  } else if (!IsLinkBandwidth(dimension.bandwidth * kBinaryGiga)) {
    bad("bandwidth", fmt::format("no link has {:g} byte/s", dimension.bandwidth * kBinaryGiga),
        "with its unit: \"450 GB/s\" or \"400 Gbit/s\"; a bare number is GB/s of 2^30 bytes");
  }
  if (!(dimension.latency >= 0)) {
    bad("latency", "the latency must not be negative", "with its unit: \"1.5 us\"");
  } else if (dimension.latency > kMostLatencyNs) {
    bad("latency", fmt::format("no link has a latency of {:g} s", dimension.latency * 1e-9),
        "with its unit: \"1.5 us\"; a bare number is ns");
  }
}

struct ListKey {
  const char* key;
  const char* example;
  bool (*holds)(const nlohmann::json& item);
};
const ListKey kLists[] = {
    {"topology", R"(["Switch", "Switch"])", [](const nlohmann::json& item) { return item.is_string(); }},
    {"npus_count", "[8, 64]", [](const nlohmann::json& item) { return item.is_number(); }},
    {"bandwidth", R"(["450 GB/s", "400 Gbit/s"])", [](const nlohmann::json&) { return true; }},
    {"latency", R"(["1 us", "1.5 us"])", [](const nlohmann::json&) { return true; }},
};

// One value stands for a list of one.
nlohmann::json ListOf(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = object.at(key);
  return value.is_array() ? value : nlohmann::json::array({value});
}

// Whether all lists are there, of the right kind; the first that is not is reported.
bool HasLists(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader) {
  for (const auto& [key, example, holds] : kLists) {
    if (!object.contains(key)) {
      reader.diagnostics.Error(kBadSystem, fmt::format("the network has no `{}`", key), source.LocationOf("network"),
                               "it has four lists: topology, npus_count, bandwidth, latency");
      return false;
    }
    const nlohmann::json list = ListOf(object, key);
    if (std::all_of(list.begin(), list.end(), holds)) continue;
    reader.diagnostics.Error(kBadSystem, fmt::format("`{}` cannot be {}", key, JsonText(object.at(key))),
                             source.LocationOf(key),
                             fmt::format("a list with an entry for each dimension, from the inside: {}", example));
    return false;
  }
  return true;
}

}  // namespace

void SetNetwork(const NetworkLists& lists, const KeyPlaces& place, SystemReader& reader) {
  const size_t count = lists.topology.size();
  const char* odd = count == 0                        ? "topology"
                    : lists.npus.size() != count      ? "npus_count"
                    : lists.bandwidth.size() != count ? "bandwidth"
                    : lists.latency.size() != count   ? "latency"
                                                      : nullptr;
  if (odd != nullptr) {
    reader.diagnostics.Error(
        kBadSystem,
        fmt::format("topology, npus_count, bandwidth and latency must have equal lengths of at least 1, not {}, {}, {} "
                    "and {}",
                    count, lists.npus.size(), lists.bandwidth.size(), lists.latency.size()),
        place(odd), "write one figure for each dimension, from the inside");
    return;
  }
  reader.system.stated.counts_at = place("npus_count");
  static const std::vector<std::string> kKinds = {"Ring", "FullyConnected", "Switch", "Line"};
  for (size_t d = 0; d < count; ++d) {
    const auto kind = std::find(kKinds.begin(), kKinds.end(), lists.topology[d]);
    if (kind == kKinds.end()) {
      reader.diagnostics.Error(kBadSystem, fmt::format("unknown topology `{}`", lists.topology[d]), place("topology"),
                               DidYouMean(lists.topology[d], kKinds, "use Ring, FullyConnected, Switch or Line"));
      continue;
    }
    if (lists.npus[d] < 2 || lists.npus[d] > kMostNpus) {
      reader.diagnostics.Error(kBadSystem,
                               fmt::format("dimension {}: npus_count {} must be at least 2", d, lists.npus[d]),
                               place("npus_count"), "leave out a dimension of one NPU");
      continue;
    }
    const bool line = *kind == "Line";
    reader.system.dimensions.push_back(
        {.kind = line ? DimensionKind::kRing : static_cast<DimensionKind>(kind - kKinds.begin()),
         .npus = static_cast<uint32_t>(lists.npus[d]),
         .bandwidth = lists.bandwidth[d],
         .latency = lists.latency[d],
         .open = line});
    CheckDimension(reader.system.dimensions.back(), d, place, reader);
  }
}

// A list of numbers in the file's unit, or of texts with a unit of their own; `unit_size` is the file's unit in base
// units.
std::optional<std::vector<double>> ReadQuantities(const PlacedJson& source, const nlohmann::json& object,
                                                  const char* key, Unit unit, double unit_size, SystemReader& reader) {
  std::vector<double> values;
  for (const nlohmann::json& item : ListOf(object, key)) {
    if (item.is_number()) {
      values.push_back(item.get<double>());
      continue;
    }
    const auto value = item.is_string() ? ParseQuantity(item.get<std::string>(), unit) : Result<double>(0.0);
    if (!item.is_string() || !value) {
      reader.diagnostics.Error(kBadSystem, fmt::format("`{}`: {} is no such quantity", key, JsonText(item)),
                               source.LocationOf(key),
                               unit == Unit::kSeconds ? "a number of nanoseconds, or a text as \"1.5 us\""
                                                      : "a number of GB/s of 2^30 bytes, as ASTRA-sim reads it, or a "
                                                        "text as \"450 GB/s\" (10^9) or \"400 Gbit/s\"");
      return std::nullopt;
    }
    values.push_back(*value / unit_size);
  }
  return values;
}

// Which dimensions are networks of adapters, and which of these pass TCP; the kinds of links tell where the file does
// not.
void ReadBetweenHosts(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader) {
  if (!object.contains("between_hosts")) return;
  const nlohmann::json& list = object.at("between_hosts");
  auto& dimensions = reader.system.dimensions;
  const bool flags =
      list.is_array() && std::ranges::all_of(list, [](const auto& item) { return item.is_boolean() || item == "tcp"; });
  if (!flags || list.size() != dimensions.size()) {
    reader.diagnostics.Error(kBadSystem, "`between_hosts` has true, false or \"tcp\" for each dimension",
                             source.LocationOf("between_hosts"), "[false, true]: the outer one joins hosts");
    return;
  }
  for (size_t d = 0; d < dimensions.size(); ++d) {
    dimensions[d].tcp = list[d] == "tcp";
    dimensions[d].between_hosts = list[d] != false;
  }
  if (reader.system.device.empty() || !PassesTcp(reader.system)) return;  // checked where a device joins it
  Diagnostics unused;
  const auto device = LoadDevice(reader.system.device, unused);
  auto fault = device ? TcpFault(*device, reader.system) : std::nullopt;
  if (!fault) return;
  fault->kind = &kBadSystem;
  fault->location = source.LocationOf("between_hosts");
  reader.diagnostics.Report(*std::move(fault));
}

void ReadNetworkJson(const PlacedJson& source, const nlohmann::json& object, SystemReader& reader) {
  NetworkLists lists;
  try {
    for (const auto& [key, value] : object.items()) reader.UnknownKey(key, kJsonKeys, source.LocationOf(key));
    if (!HasLists(source, object, reader)) return;
    lists.topology = ListOf(object, "topology").get<std::vector<std::string>>();
    // As numbers first: what is no whole number of 64 bits has no value there.
    for (const double count : ListOf(object, "npus_count").get<std::vector<double>>()) {
      if (!(std::abs(count) <= static_cast<double>(kMostNpus)) || count != std::floor(count)) {
        reader.diagnostics.Error(kBadSystem, fmt::format("npus_count: {} is no number of NPUs", count),
                                 source.LocationOf("npus_count"));
        return;
      }
      lists.npus.push_back(static_cast<int64_t>(count));
    }
    auto bandwidth = ReadQuantities(source, object, "bandwidth", Unit::kBytesPerSecond, kBinaryGiga, reader);
    auto latency = ReadQuantities(source, object, "latency", Unit::kSeconds, 1e-9, reader);
    if (!bandwidth || !latency) return;
    lists.bandwidth = *std::move(bandwidth);
    lists.latency = *std::move(latency);
  } catch (const nlohmann::json::exception& error) {
    reader.diagnostics.Error(kBadSystem, std::string("the network description is invalid: ") + error.what(),
                             source.LocationOf("network"),
                             "it has four lists: topology, npus_count, bandwidth, latency");
    return;
  }
  SetNetwork(
      lists, [&](const char* key) { return source.LocationOf(key); }, reader);
  ReadBetweenHosts(source, object, reader);
}

}  // namespace hespas::hardware
