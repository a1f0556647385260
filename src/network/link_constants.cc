#include "network/link_constants.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "hardware/presets.h"

namespace hespas::network {
namespace {

struct Constant {
  const char* name;
  double OperationConstants::*value;
};
constexpr Constant kConstants[] = {{"launch_cycles", &OperationConstants::launch_cycles},
                                   {"hop_us", &OperationConstants::hop_us},
                                   {"link_fraction", &OperationConstants::link_fraction},
                                   {"ramp", &OperationConstants::ramp},
                                   {"own_share", &OperationConstants::own_share}};

double Number(std::optional<JsonObject>& object, const std::string& key, Diagnostics& diagnostics) {
  const auto value = object ? object->Quantity(key, Unit::kNumber) : std::nullopt;
  if (!value) diagnostics.Error(kBadNetworkConstants, fmt::format("no constant `{}`", key));
  return value.value_or(1);
}

// A permute is what an all-to-all is made of: sends and receives, without a part of its own.
OperationConstants PermuteOf(OperationConstants all_to_all) {
  all_to_all.own_share = 0;
  return all_to_all;
}

LinkConstants ReadLink(JsonObject& object, Diagnostics& diagnostics) {
  LinkConstants link;
  link.kind = object.Text("kind").value_or("");
  object.Raw("source");
  link.in_switch_ratio = object.Quantity("in_switch_ratio", Unit::kNumber).value_or(0);
  for (const Operation op :
       {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter, Operation::kAllToAll}) {
    const auto index = static_cast<size_t>(op);
    auto values = object.Object(std::string(kOperationNames[index]));
    for (const Constant& constant : kConstants)
      link.operations[index].*constant.value = Number(values, constant.name, diagnostics);
    if (!(link.operations[index].link_fraction > 0))
      diagnostics.Error(kBadNetworkConstants, fmt::format("link_fraction of `{}` must be above 0", link.kind));
  }
  link.operations[static_cast<size_t>(Operation::kPermute)] = PermuteOf(link.of(Operation::kAllToAll));
  object.Finish();
  return link;
}

// "NVLink 4": the family and the generation; 0 without one.
struct Kind {
  std::string_view family;
  double generation = 0;
};

Kind Split(std::string_view name) {
  const size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return {name};
  double generation = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + space + 1, end, generation);
  if (error != std::errc() || at != end) return {name};
  return {name.substr(0, space), generation};
}

Result<NetworkConstants> ReadDefault() {
  const auto folder = hardware::DataFolder();
  if (!folder) return folder.error();
  const std::string file = (*folder / "models" / "network.json").string();
  const auto text = ReadInput(file);
  if (!text) return text.error();
  return ReadNetworkConstants(*text, file);
}

}  // namespace

const LinkConstants& NetworkConstants::Of(std::string_view kind) const {
  const Kind wanted = Split(kind);
  const LinkConstants* nearest = nullptr;
  double distance = 0;
  for (const LinkConstants& link : links) {
    const Kind known = Split(link.kind);
    const double away = std::fabs(known.generation - wanted.generation);
    if (known.family != wanted.family || (nearest != nullptr && away >= distance)) continue;
    nearest = &link;
    distance = away;
  }
  return nearest != nullptr ? *nearest : links.back();
}

Result<NetworkConstants> ReadNetworkConstants(std::string_view text, const std::string& file) {
  const auto json = ParseJson(text, file);
  if (!json) return json.error();
  Diagnostics diagnostics;
  const JsonSource source{.text = text, .file = file, .diagnostics = &diagnostics};
  JsonObject root(source, *json);
  root.Integer("schema_version", 1, 1);
  root.Raw("description");
  NetworkConstants constants;
  const nlohmann::json* links = root.Raw("links");
  for (size_t i = 0; links != nullptr && links->is_array() && i < links->size(); ++i) {
    JsonObject object(source, (*links)[i], {"links", std::to_string(i)});
    constants.links.push_back(ReadLink(object, diagnostics));
  }
  if (constants.links.empty()) diagnostics.Error(kBadNetworkConstants, "no kind of link in `links`");
  auto outer = root.Object("outer_levels");
  constants.outer = {.ring_hop_us = Number(outer, "ring_hop_us", diagnostics),
                     .tree_hop_us = Number(outer, "tree_hop_us", diagnostics),
                     .link_fraction = Number(outer, "link_fraction", diagnostics)};
  auto pipeline = root.Object("pipeline");
  constants.chunk_bytes = Number(pipeline, "chunk_bytes", diagnostics);
  auto sigma = root.Object("sigma");
  constants.sigma = Number(sigma, "value", diagnostics);
  auto clock = root.Object("clock_hz");
  constants.clock_hz = Number(clock, "value", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!diagnostic.is_warning())
      return MakeError(kBadNetworkConstants, diagnostic.message, diagnostic.location, diagnostic.help);
  }
  return constants;
}

const Result<NetworkConstants>& DefaultNetworkConstants() {
  static const Result<NetworkConstants> constants = ReadDefault();
  return constants;
}

}  // namespace hespas::network
