#include "network/link_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text/json_text.h"
#include "hardware/cluster.h"
#include "hardware/model_file.h"

namespace hespas::network {
namespace {

struct Constant {
  const char* name;
  double OperationConstants::*value;
};
constexpr const char* kProtocolNames[kProtocols] = {"ll", "ll128", "simple"};
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

std::string Name(JsonObject& object) {
  object.Require("kind");
  return object.Text("kind").value_or("");
}

// All keys were asked for: what is left is misspelt. `source` is for readers of the file.
void Finish(std::optional<JsonObject>& object) {
  if (!object) return;
  object->Raw("source");
  object->Finish();
}

// Permutes and gathers are sends and receives as an all-to-all, broadcasts a ring as an all-gather; none of them has a
// part of its own.
void AddRelated(LinkConstants& link) {
  const auto derive = [&](Operation op, OperationConstants from) {
    from.own_share = 0;
    link.operations[static_cast<size_t>(op)] = from;
  };
  derive(Operation::kPermute, link.of(Operation::kAllToAll));
  derive(Operation::kGather, link.of(Operation::kAllToAll));
  derive(Operation::kBroadcast, link.of(Operation::kAllGather));
}

std::array<ProtocolConstants, kProtocols> ReadProtocols(JsonObject& object, Diagnostics& diagnostics) {
  std::array<ProtocolConstants, kProtocols> protocols;
  for (size_t i = 0; i < kProtocols; ++i) {
    auto values = object.Object(kProtocolNames[i]);
    if (!values && i == static_cast<size_t>(Protocol::kLl128)) continue;  // not on PCIe
    protocols[i].start = Number(values, "start", diagnostics);
    const bool simple = i == static_cast<size_t>(Protocol::kSimple);
    if (simple) protocols[i].step = Number(values, "step", diagnostics);
    if (simple) protocols[i].ramp = Number(values, "ramp", diagnostics);
    if (!simple) protocols[i].link_fraction = Number(values, "link_fraction", diagnostics);
    if (!simple) protocols[i].own_share = Number(values, "own_share", diagnostics);
    Finish(values);
    if (!(protocols[i].link_fraction > 0))
      diagnostics.Error(kBadNetworkConstants, fmt::format("link_fraction of {} must be above 0", kProtocolNames[i]));
  }
  object.Finish();
  return protocols;
}

LinkConstants ReadLink(JsonObject& object, Diagnostics& diagnostics) {
  LinkConstants link;
  link.kind = Name(object);
  object.Raw("source");
  link.capability = static_cast<int>(object.Integer("capability", 0, 1000).value_or(0));
  link.switch_traffic = object.Quantity("switch_traffic", Unit::kNumber).value_or(1);
  object.Require("sigma");
  link.sigma = object.Quantity("sigma", Unit::kNumber).value_or(0);
  for (const Operation op :
       {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter, Operation::kAllToAll}) {
    const auto index = static_cast<size_t>(op);
    auto values = object.Object(std::string(kOperationNames[index]));
    for (const Constant& constant : kConstants)
      link.operations[index].*constant.value = Number(values, constant.name, diagnostics);
    Finish(values);
    if (!(link.operations[index].link_fraction > 0))
      diagnostics.Error(kBadNetworkConstants, fmt::format("link_fraction of `{}` must be above 0", link.kind));
  }
  AddRelated(link);
  if (auto protocols = object.Object("protocols")) link.protocols = ReadProtocols(*protocols, diagnostics);
  object.Finish();
  return link;
}

void ReadExpected(const JsonSource& source, std::optional<JsonObject>& object, NetworkConstants& constants,
                  Diagnostics& diagnostics) {
  const nlohmann::json* links = object ? object->Raw("links") : nullptr;
  for (size_t i = 0; links != nullptr && links->is_array() && i < links->size(); ++i) {
    std::optional<JsonObject> link(std::in_place, source, (*links)[i],
                                   std::vector<std::string>{"expected", "links", std::to_string(i)});
    constants.expected.push_back({.kind = Name(*link),
                                  .share = Number(link, "share", diagnostics),
                                  .switch_efficiency = link->Quantity("switch_efficiency", Unit::kNumber).value_or(0)});
    Finish(link);
    if (!(constants.expected.back().share > 0))
      diagnostics.Error(kBadNetworkConstants,
                        fmt::format("share of `{}` must be above 0", constants.expected.back().kind));
  }
  Finish(object);
  if (constants.expected.empty()) diagnostics.Error(kBadNetworkConstants, "no kind of link in `expected`");
}

// "NVLink 4", "PCIe 4.0 x16": the family and the generation; 0 without one.
struct Kind {
  std::string_view family;
  double generation = 0;
};

Kind Split(std::string_view name) {
  const size_t space = name.find(' ');
  if (space == std::string_view::npos) return {name};
  double generation = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + space + 1, end, generation);
  const std::string_view rest(at, static_cast<size_t>(end - at));
  if (error != std::errc() || (!rest.empty() && !rest.starts_with(" x"))) return {name};
  return {name.substr(0, space), generation};
}

OuterConstants ReadOuter(std::optional<JsonObject> object, bool has_trees, Diagnostics& diagnostics) {
  OuterConstants outer{.ring_hop_us = Number(object, "ring_hop_us", diagnostics),
                       .tree_hop_us = has_trees ? Number(object, "tree_hop_us", diagnostics) : 0,
                       .link_fraction = Number(object, "link_fraction", diagnostics)};
  Finish(object);
  return outer;
}

void ReadDataCentre(std::optional<JsonObject> object, NetworkConstants& constants, Diagnostics& diagnostics) {
  constants.host_rate = Number(object, "host_bytes_per_second", diagnostics);
  constants.host_chips = Number(object, "host_chips", diagnostics);
  if (!(constants.host_rate > 0 && constants.host_chips > 0))
    diagnostics.Error(kBadNetworkConstants, "rate and chips of a host must be above 0");
  constants.data_centre = ReadOuter(std::move(object), true, diagnostics);
}

double ReadOnly(std::optional<JsonObject> object, const char* key, Diagnostics& diagnostics) {
  const double value = Number(object, key, diagnostics);
  Finish(object);
  return value;
}

Result<NetworkConstants> ReadDefault() {
  const auto shipped = hardware::ReadModelFile("network.json");
  if (!shipped) return shipped.error();
  return ReadNetworkConstants(shipped->text, shipped->path);
}

// The kind itself, else the nearest generation of its family, else the last.
template <class T>
const T& NearestOf(const std::vector<T>& known, std::string_view kind) {
  const Kind wanted = Split(kind);
  const T* nearest = nullptr;
  double distance = 0;
  for (const T& link : known) {
    if (link.kind == kind) return link;
    const Kind candidate = Split(link.kind);
    const double away = std::fabs(candidate.generation - wanted.generation);
    if (candidate.family != wanted.family || (nearest != nullptr && away >= distance)) continue;
    nearest = &link;
    distance = away;
  }
  return nearest != nullptr ? *nearest : known.back();
}

}  // namespace

const LinkConstants& NetworkConstants::Of(std::string_view kind) const { return NearestOf(links, kind); }

// Nearest among the kinds of links on devices of the same generation; without any, the kind's own.
const LinkConstants& NetworkConstants::LaunchOf(std::string_view kind, int capability) const {
  const LinkConstants& own = Of(kind);
  const auto away = [&](const LinkConstants& link) { return std::abs(link.capability - capability); };
  if (capability == 0 || own.capability == capability) return own;
  const LinkConstants* nearest = nullptr;
  for (const LinkConstants& link : links) {
    if (link.capability == 0 || GenerationOf(link.capability) != GenerationOf(capability)) continue;
    if (nearest == nullptr || away(link) < away(*nearest)) nearest = &link;
  }
  return nearest != nullptr ? *nearest : own;
}

const ExpectedLink& NetworkConstants::ExpectedOf(std::string_view kind) const { return NearestOf(expected, kind); }

OuterConstants NetworkConstants::DataCentreOf(const hardware::Device& device) const {
  OuterConstants found = data_centre;
  const bool torus = device.interconnect && device.interconnect->topology == "torus";
  const int dies = torus ? device.interconnect->domain_size.value_or(1) : 1;  // devices of a chip
  const double reference = hardware::ReferenceRate(device);
  if (reference > 0) found.link_fraction = std::min(found.link_fraction, host_rate / (host_chips * dies) / reference);
  return found;
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
  auto expected = root.Object("expected");
  ReadExpected(source, expected, constants, diagnostics);
  constants.outer = ReadOuter(root.Object("outer_levels"), true, diagnostics);
  constants.tcp = ReadOuter(root.Object("tcp_levels"), false, diagnostics);
  ReadDataCentre(root.Object("data_centre_levels"), constants, diagnostics);
  constants.chunk_bytes = ReadOnly(root.Object("pipeline"), "chunk_bytes", diagnostics);
  constants.clock_hz = ReadOnly(root.Object("clock_hz"), "value", diagnostics);
  root.Finish();
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
