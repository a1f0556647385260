#include "hardware/links/link_graph.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "hardware/placed_json.h"

namespace hespas::hardware {
namespace {

using nlohmann::json;

constexpr uint32_t kMostDevices = 1 << 20;

// The links of one dimension between the members of the ring that starts at `zero`.
void AddRing(const NetworkDimension& dimension, uint32_t zero, uint32_t stride, LinkGraph& graph) {
  const auto add = [&](uint32_t from, uint32_t to) {
    graph.links.push_back({from, to, dimension.bandwidth, dimension.latency});
  };
  const uint32_t n = dimension.npus;
  const uint32_t hub = dimension.kind == DimensionKind::kSwitch ? graph.devices++ : 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t here = zero + i * stride;
    if (dimension.kind == DimensionKind::kSwitch) {
      add(here, hub);
      add(hub, here);
    } else if (dimension.kind == DimensionKind::kRing) {
      add(here, zero + (i + 1) % n * stride);
      if (n > 2) add(here, zero + (i + n - 1) % n * stride);
    } else {
      for (uint32_t j = 0; j < n; ++j) {
        if (j != i) add(here, zero + j * stride);
      }
    }
  }
}

// A number of devices or of one; what is none comes out larger than any.
uint32_t CountOf(const json& item) {
  const auto count = item.get<double>();
  const bool whole = count >= 0 && count <= kMostDevices && count == std::floor(count);
  return whole ? static_cast<uint32_t>(count) : UINT32_MAX;
}

std::string AddLink(const json& item, LinkGraph& graph) {
  GraphLink link{CountOf(item.at("from")), CountOf(item.at("to")), item.at("bandwidth").get<double>(),
                 item.at("latency").get<double>()};
  if (link.from >= graph.devices || link.to >= graph.devices || link.from == link.to) {
    return fmt::format("a link from {} to {}, but there are {} devices", link.from, link.to, graph.devices);
  }
  if (!(link.bandwidth > 0) || !(link.latency >= 0) || link.latency > 1e15) {
    return fmt::format("the link from {} to {} needs a bandwidth above 0 and a latency of at least 0", link.from,
                       link.to);
  }
  graph.links.push_back(link);
  if (!item.value("both_ways", false)) return {};
  std::swap(link.from, link.to);
  graph.links.push_back(link);
  return {};
}

}  // namespace

Result<LinkGraph> ReadLinkGraph(const std::string& path) {
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  const Result<PlacedJson> source = PlacedJson::Parse(*text, path, kBadLinkGraph);
  if (!source) return source.error();
  LinkGraph graph;
  try {
    const json& root = source->root();
    graph.npus = CountOf(root.at("npus"));
    const uint32_t switches = root.contains("switches") ? CountOf(root["switches"]) : 0;
    if (graph.npus < 2 || graph.npus > kMostDevices || switches > kMostDevices) {
      return MakeError(kBadLinkGraph, "the number of NPUs or switches is out of range", source->LocationOf("npus"));
    }
    graph.devices = graph.npus + switches;
    for (const json& item : root.at("links")) {
      std::string bad = AddLink(item, graph);
      if (!bad.empty()) return MakeError(kBadLinkGraph, std::move(bad), source->LocationOf("links"));
    }
  } catch (const json::exception& error) {
    return MakeError(kBadLinkGraph, fmt::format("the topology is invalid: {}", error.what()), {.file = path},
                     "write {\"npus\": 4, \"switches\": 1, \"links\": [{\"from\": 0, \"to\": 4, \"bandwidth\": 50, "
                     "\"latency\": 500, \"both_ways\": true}]}");
  }
  return graph;
}

LinkGraph LinkGraphOf(const System& system) {
  LinkGraph graph;
  graph.npus = graph.devices = static_cast<uint32_t>(system.npus());
  uint32_t stride = 1;
  for (const NetworkDimension& dimension : system.dimensions) {
    for (uint32_t rank = 0; rank < graph.npus; ++rank) {
      if (rank / stride % dimension.npus == 0) AddRing(dimension, rank, stride, graph);
    }
    stride *= dimension.npus;
  }
  return graph;
}

}  // namespace hespas::hardware
