// network.yml and ASTRA-sim's other YAML (spec astra-sim sections 1.2 and 9.1).
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>

#include "base/system/file.h"
#include "hardware/system_reader.h"

namespace hespas::hardware {
namespace {

const std::vector<std::string> kNetworkKeys = {"topology", "npus_count", "bandwidth", "latency"};

Location PlaceOf(const YAML::Mark& mark, const std::string& text, const std::string& file) {
  if (mark.is_null()) return {.file = file};
  return LocateOffset(text, static_cast<size_t>(mark.pos), file);
}

template <class T>
bool ReadYamlList(const YAML::Node& root, const char* key, const std::string& text, const std::string& file,
                  SystemReader& reader, std::vector<T>& out) {
  const YAML::Node list = root[key];
  if (!list) {
    reader.diagnostics.Error(kBadSystem, fmt::format("`{}` is missing", key), {.file = file});
    return false;
  }
  try {
    if (list.IsScalar()) {
      out.push_back(list.as<T>());
      return true;
    }
    for (const YAML::Node& item : list) out.push_back(item.as<T>());
    return true;
  } catch (const YAML::Exception& error) {
    reader.diagnostics.Error(kBadSystem, fmt::format("`{}` has an item of the wrong type: {}", key, error.msg),
                             PlaceOf(error.mark, text, file));
    return false;
  }
}

}  // namespace

void ReadNetworkYaml(const std::string& text, const std::string& file, SystemReader& reader) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      reader.diagnostics.Error(kBadSystem, "a network description is a map of topology, npus_count, bandwidth, latency",
                               {.file = file, .line = 1, .column = 1});
      return;
    }
    for (const auto& item : root) {
      reader.UnknownKey(item.first.as<std::string>(), kNetworkKeys, PlaceOf(item.first.Mark(), text, file));
    }
    NetworkLists lists;
    const bool read[] = {ReadYamlList(root, "topology", text, file, reader, lists.topology),
                         ReadYamlList(root, "npus_count", text, file, reader, lists.npus),
                         ReadYamlList(root, "bandwidth", text, file, reader, lists.bandwidth),
                         ReadYamlList(root, "latency", text, file, reader, lists.latency)};
    if (std::all_of(std::begin(read), std::end(read), [](bool ok) { return ok; })) {
      SetNetwork(
          lists, [&](const char* key) { return PlaceOf(root[key].Mark(), text, file); }, reader);
    }
  } catch (const YAML::Exception& error) {
    reader.diagnostics.Error(kSystemSyntax, "not valid YAML: " + error.msg, PlaceOf(error.mark, text, file));
  }
}

// A map of workload node ids to path prefixes (spec astra-sim section 9.1).
void ReadPerNodeYaml(const std::string& path, const Location& from, SystemReader& reader) {
  const Result<std::string> text = ReadInput(path);
  if (!text) {
    reader.diagnostics.Error(kBadSystem, text.error().message, from, text.error().help);
    return;
  }
  try {
    for (const auto& item : YAML::Load(*text)) {
      reader.system.custom_of_node[item.first.as<uint64_t>()] = item.second.as<std::string>();
    }
  } catch (const YAML::Exception& error) {
    reader.diagnostics.Error(kSystemSyntax, "not a YAML map of node ids to paths: " + error.msg,
                             PlaceOf(error.mark, *text, path));
  }
}

}  // namespace hespas::hardware
