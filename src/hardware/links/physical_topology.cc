#include "hardware/links/physical_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>

namespace hespas::hardware {
namespace {

constexpr uint64_t kMostHosts = 1 << 20;

std::vector<std::string_view> Parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Numbers of at least 1; empty where the text is anything else.
std::vector<uint32_t> Numbers(std::string_view text, char separator) {
  std::vector<uint32_t> numbers;
  for (const std::string_view part : Parts(text, separator)) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number == 0 || number > kMostHosts) return {};
    numbers.push_back(number);
  }
  return numbers;
}

uint64_t Product(const std::vector<uint32_t>& numbers) {
  uint64_t product = 1;
  for (const uint32_t number : numbers) product = std::min(product * number, kMostHosts + 1);
  return product;
}

// False where the sizes make no sense.
bool ReadSizes(std::string_view sizes, PhysicalTopology& topology) {
  switch (topology.kind) {
    case TopologyKind::kTorus:
      topology.sizes = Numbers(sizes, 'x');
      return !topology.sizes.empty();
    case TopologyKind::kDragonfly:
      topology.sizes = Numbers(sizes, ',');
      return topology.sizes.size() == 3;
    case TopologyKind::kHyperX: {
      const std::vector<std::string_view> parts = Parts(sizes, ':');
      topology.sizes = Numbers(parts[0], 'x');
      const std::vector<uint32_t> hosts = parts.size() == 2 ? Numbers(parts[1], ',') : std::vector<uint32_t>{1};
      if (topology.sizes.empty() || parts.size() > 2 || hosts.size() != 1) return false;
      topology.hosts_per_router = hosts[0];
      return true;
    }
    case TopologyKind::kFatTree: {
      const std::vector<std::string_view> levels = Parts(sizes, ':');
      for (size_t level = 0; level < levels.size(); ++level) {
        const std::vector<uint32_t> numbers = Numbers(levels[level], ',');
        if (numbers.size() != (level + 1 < levels.size() ? 2u : 1u)) return false;
        topology.sizes.push_back(numbers[0]);
        if (numbers.size() == 2) topology.uplinks.push_back(numbers[1]);
      }
      return levels.size() > 1;
    }
    default:
      return false;
  }
}

std::optional<TopologyKind> KindOf(std::string_view name) {
  if (name == "torus") return TopologyKind::kTorus;
  if (name == "fat-tree") return TopologyKind::kFatTree;
  if (name == "dragonfly") return TopologyKind::kDragonfly;
  if (name == "hyperx") return TopologyKind::kHyperX;
  return std::nullopt;
}

// Links of one kind between devices of a graph.
class Builder {
 public:
  explicit Builder(const PhysicalTopology& topology, uint32_t hosts_per_router) : topology_(topology) {
    graph_.npus = static_cast<uint32_t>(topology.hosts());
    graph_.devices = graph_.npus + graph_.npus / hosts_per_router;
    for (uint32_t host = 0; host < graph_.npus; ++host) Join(host, Router(host / hosts_per_router));
  }
  uint32_t Router(uint32_t index) const { return graph_.npus + index; }
  void Join(uint32_t a, uint32_t b) {
    graph_.links.push_back({a, b, topology_.bandwidth, topology_.latency});
    graph_.links.push_back({b, a, topology_.bandwidth, topology_.latency});
  }
  LinkGraph Take() { return std::move(graph_); }

 private:
  const PhysicalTopology& topology_;
  LinkGraph graph_;
};

LinkGraph Dragonfly(const PhysicalTopology& topology) {
  const uint32_t routers = topology.sizes[1];
  const uint32_t groups = topology.sizes[2];
  Builder builder(topology, topology.sizes[0]);
  const auto router = [&](uint32_t group, uint32_t index) { return builder.Router(group * routers + index % routers); };
  for (uint32_t group = 0; group < groups; ++group) {
    for (uint32_t a = 0; a < routers; ++a) {
      for (uint32_t b = a + 1; b < routers; ++b) builder.Join(router(group, a), router(group, b));
    }
    // The links to the other groups go round the routers.
    for (uint32_t other = group + 1; other < groups; ++other) {
      builder.Join(router(group, other - 1), router(other, group));
    }
  }
  return builder.Take();
}

LinkGraph HyperX(const PhysicalTopology& topology) {
  Builder builder(topology, topology.hosts_per_router);
  const auto routers = static_cast<uint32_t>(Product(topology.sizes));
  for (uint32_t router = 0; router < routers; ++router) {
    uint32_t stride = 1;
    for (const uint32_t extent : topology.sizes) {
      for (uint32_t step = 1; router / stride % extent + step < extent; ++step) {
        builder.Join(builder.Router(router), builder.Router(router + step * stride));
      }
      stride *= extent;
    }
  }
  return builder.Take();
}

}  // namespace

uint64_t PhysicalTopology::hosts() const { return Product(sizes) * hosts_per_router; }

Result<PhysicalTopology> ParseTopology(std::string_view text, const System& system) {
  if (system.dimensions.empty()) return MakeError(kBadTopology, "the system has no network dimension");
  const auto npus = static_cast<uint32_t>(system.npus());
  PhysicalTopology topology{.bandwidth = system.dimensions[0].bandwidth, .latency = system.dimensions[0].latency};
  const size_t colon = text.find(':');
  if (text == "switch" || text == "ring") {
    topology.kind = text == "switch" ? TopologyKind::kSwitch : TopologyKind::kTorus;
    topology.sizes = {npus};
    return topology;
  }
  const std::optional<TopologyKind> kind = KindOf(text.substr(0, colon));
  topology.kind = kind.value_or(TopologyKind::kDimensions);
  if (!kind || colon == std::string_view::npos || !ReadSizes(text.substr(colon + 1), topology)) {
    return MakeError(kBadTopology, fmt::format("`{}` is no physical topology", text), {},
                     "write switch, ring, torus:4x4x2, hyperx:4x4, hyperx:4x4:2, fat-tree:8,4:8 or dragonfly:4,4,2");
  }
  if (topology.hosts() > kMostHosts || topology.hosts() < npus) {
    return MakeError(kBadTopology, fmt::format("`{}` has {} hosts, the system {} NPUs", text, topology.hosts(), npus),
                     {}, "give it as many hosts as there are NPUs, or more");
  }
  return topology;
}

PhysicalTopology TopologyOf(const System& system) {
  PhysicalTopology topology;
  if (system.dimensions.empty()) return topology;
  const NetworkDimension& first = system.dimensions[0];
  for (const NetworkDimension& dimension : system.dimensions) {
    topology.sizes.push_back(dimension.npus);
    if (dimension.kind != first.kind || dimension.bandwidth != first.bandwidth || dimension.latency != first.latency)
      return topology;
  }
  topology.bandwidth = first.bandwidth;
  topology.latency = first.latency;
  if (first.kind == DimensionKind::kRing) topology.kind = TopologyKind::kTorus;
  if (first.kind == DimensionKind::kSwitch && system.dimensions.size() == 1) topology.kind = TopologyKind::kSwitch;
  return topology;
}

LinkGraph LinkGraphOf(const PhysicalTopology& topology) {
  return topology.kind == TopologyKind::kDragonfly ? Dragonfly(topology) : HyperX(topology);
}

}  // namespace hespas::hardware
