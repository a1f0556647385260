#include "report/export/simgrid_platform.h"

#include <fmt/format.h>

#include <iterator>

namespace hespas::report {
namespace {

using hardware::PhysicalTopology;
using hardware::TopologyKind;

constexpr double kGigabyte = 1073741824.0;  // network.yml counts in 2^30 bytes

std::string Document(const std::string& body) {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         body + "</platform>\n";
}

// bandwidth and latency with all their digits
std::string LinkFigures(const char* bandwidth_key, double bandwidth, const char* latency_key, double latency) {
  return fmt::format("{}=\"{}Bps\" {}=\"{}ns\"", bandwidth_key, bandwidth * kGigabyte, latency_key, latency);
}

std::string Parameters(const PhysicalTopology& topology) {
  if (topology.kind == TopologyKind::kTorus) {
    return fmt::format("topology=\"TORUS\" topo_parameters=\"{}\" ", fmt::join(topology.sizes, ","));
  }
  if (topology.kind != TopologyKind::kFatTree) return {};
  const std::vector<uint32_t> one_cable(topology.sizes.size(), 1);
  std::vector<uint32_t> parents = {1};
  parents.insert(parents.end(), topology.uplinks.begin(), topology.uplinks.end());
  return fmt::format("topology=\"FAT_TREE\" topo_parameters=\"{};{};{};{}\" ", topology.sizes.size(),
                     fmt::join(topology.sizes, ","), fmt::join(parents, ","), fmt::join(one_cable, ","));
}

}  // namespace

std::string SimGridPlatform(const PhysicalTopology& topology, const hardware::System& system) {
  if (topology.kind == TopologyKind::kDimensions) return SimGridPlatform(hardware::LinkGraphOf(system));
  if (topology.kind == TopologyKind::kDragonfly || topology.kind == TopologyKind::kHyperX) {
    return SimGridPlatform(hardware::LinkGraphOf(topology));  // SimGrid's own dragonfly crashes for some sizes
  }
  return Document(fmt::format(
      "<cluster id=\"net\" prefix=\"node-\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" {} {}"
      "sharing_policy=\"SPLITDUPLEX\"/>\n",
      topology.hosts() - 1, LinkFigures("bw", topology.bandwidth, "lat", topology.latency), Parameters(topology)));
}

std::string SimGridPlatform(const hardware::LinkGraph& graph) {
  std::string body = "<zone id=\"net\" routing=\"DijkstraCache\">\n";
  const auto out = std::back_inserter(body);
  const auto name = [&](uint32_t device) {
    return device < graph.npus ? fmt::format("node-{}", device) : fmt::format("switch-{}", device);
  };
  for (uint32_t device = 0; device < graph.devices; ++device) {
    if (device < graph.npus) {
      fmt::format_to(out, "<host id=\"{}\" speed=\"1Gf\"/>\n", name(device));
    } else {
      fmt::format_to(out, "<router id=\"{}\"/>\n", name(device));
    }
  }
  for (size_t i = 0; i < graph.links.size(); ++i) {
    fmt::format_to(out, "<link id=\"link-{}\" {}/>\n", i,
                   LinkFigures("bandwidth", graph.links[i].bandwidth, "latency", graph.links[i].latency));
  }
  for (size_t i = 0; i < graph.links.size(); ++i) {
    fmt::format_to(out, "<route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"link-{}\"/></route>\n",
                   name(graph.links[i].from), name(graph.links[i].to), i);
  }
  return Document(body + "</zone>\n");
}

std::vector<std::string> HostNames(uint64_t hosts) {
  std::vector<std::string> names;
  for (uint64_t host = 0; host < hosts; ++host) names.push_back(fmt::format("node-{}", host));
  return names;
}

}  // namespace hespas::report
