#include "sweep/file/system_fields.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "base/text/unit_text.h"
#include "hardware/presets.h"
#include "sweep/file/settings.h"

namespace hespas::sweep {
namespace {

namespace fs = std::filesystem;

constexpr double kGiga = 1073741824.0;  // a link's GB is 2^30 bytes (hardware/system.h)
constexpr const char* kNetworkLists[] = {"topology", "npus_count", "bandwidth", "latency"};
constexpr const char* kAlgorithmKeys[] = {"all-reduce-implementation", "all-gather-implementation",
                                          "reduce-scatter-implementation", "all-to-all-implementation"};

struct PlainKey {
  std::string_view field;
  const char* key;
};
constexpr PlainKey kPlainKeys[] = {{"chunks", "preferred-dataset-splits"},
                                   {"active_chunks", "active-chunks-per-dimension"}};

Result<Json> ReadTree(const std::string& path) {
  auto text = ReadInput(path);
  if (!text) return text.error();
  auto source = SweepSource::Parse(*std::move(text), path);
  if (!source) return source.error();
  return source->root();
}

Result<Json> ReadPreset(hardware::PresetKind kind, const std::string& name) {
  if (hardware::IsInlineJson(name)) {
    const auto checked = ParseJson(name, "<text>");
    if (!checked) return checked.error();
    return ReadOrderedJson(name);
  }
  const auto path = hardware::FindPreset(kind, name);
  if (!path) return path.error();
  std::error_code error;
  if (!fs::is_directory(*path, error)) return ReadTree(path->string());
  Json file = Json::object();
  for (const auto& [part, name_of_file] :
       {std::pair("network", "network.yml"), {"system", "system.json"}, {"remote_memory", "remote_memory.json"}}) {
    if (!fs::exists(*path / name_of_file, error)) continue;
    auto tree = ReadTree((*path / name_of_file).string());
    if (!tree) return tree;
    file[part] = *std::move(tree);
  }
  file["name"] = name;
  return file;
}

Json AsList(const Json& value) { return value.is_array() ? value : Json::array({value}); }

// Numbers are in base units, as everywhere in a sweep; the file wants GB/s of 2^30 bytes and nanoseconds.
Result<Json> Quantities(const std::string& field, const Json& value, Unit unit, double scale) {
  Json list = Json::array();
  for (const Json& item : AsList(value)) {
    double amount = item.is_number() ? item.get<double>() : -1;
    if (item.is_string())
      amount = [&] {
        const auto parsed = ParseQuantity(item.get_ref<const std::string&>(), unit);
        return parsed ? *parsed : -1;
      }();
    if (!(amount >= 0)) {
      return MakeError(kBadSetting, fmt::format("`system.{}` cannot be {}", field, JsonText(item)), {},
                       "a quantity such as \"50 GB/s\" or \"1 us\", or a list with one for each dimension");
    }
    list.push_back(amount * scale);
  }
  return list;
}

}  // namespace

Result<Json> ReadDeviceFile(const std::string& name_or_text) {
  return ReadPreset(hardware::PresetKind::kDevice, name_or_text);
}

Result<Json> ReadSystemFile(const std::string& name_or_text) {
  if (name_or_text == "auto") {
    return MakeError(kBadSetting, "fields of a system need a system to change", {},
                     "name one with `system`; system.bandwidth and system.latency with one value work without");
  }
  return ReadPreset(hardware::PresetKind::kSystem, name_or_text);
}

Status SetSystemField(const std::string& field, const Json& value, Json& file) {
  Json& network = file["network"];
  if (field == "topology") {
    network["topology"] = AsList(value);
  } else if (field == "npus") {
    network["npus_count"] = AsList(value);
  } else if (field == "bandwidth" || field == "latency") {
    const bool latency = field == "latency";
    auto list = latency ? Quantities(field, value, Unit::kSeconds, 1e9)
                        : Quantities(field, value, Unit::kBytesPerSecond, 1 / kGiga);
    if (!list) return list.error();
    network[field] = *std::move(list);
  } else if (field == "algorithm") {
    for (const char* key : kAlgorithmKeys) file["system"][key] = AsList(value);
  } else if (field.starts_with("remote_memory.")) {
    file["remote_memory"][field.substr(std::string_view("remote_memory.").size())] = value;
  } else {
    std::string key = field;
    for (const PlainKey& plain : kPlainKeys) {
      if (plain.field == field) key = plain.key;
    }
    const bool algorithm = key.ends_with("-implementation");
    file["system"][key] = algorithm ? AsList(value) : value;
  }
  return {};
}

Status FitDimensions(Json& file) {
  Json& network = file["network"];
  size_t dimensions = 1;
  for (const char* key : kNetworkLists) {
    if (!network.contains(key)) return MakeError(kBadSetting, fmt::format("the system has no `{}`", key));
    network[key] = AsList(network[key]);
  }
  dimensions = network["npus_count"].size();
  const auto fit = [&](Json& list) {
    if (list.empty()) return;
    while (list.size() > dimensions) list.erase(list.size() - 1);
    while (list.size() < dimensions) list.push_back(list.back());
  };
  for (const char* key : kNetworkLists) fit(network[key]);
  for (const char* key : kAlgorithmKeys) {
    if (file["system"].contains(key)) fit(file["system"][key]);
  }
  return {};
}

}  // namespace hespas::sweep
