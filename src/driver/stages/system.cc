#include "driver/stages/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "driver/configuration/presets.h"
#include "hardware/cluster.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

// A system file for one node of devices behind their own interconnect; empty where the device describes none that joins
// so many. A switch gets the bandwidth of all ports; in a mesh it is shared by the links to each peer.
std::string NodeText(const hardware::Device& device, size_t npus) {
  if (!device.interconnect || device.interconnect->bandwidth.value <= 0) return {};
  const hardware::Interconnect& ports = *device.interconnect;
  if (ports.domain_size && static_cast<size_t>(*ports.domain_size) < npus) return {};
  const bool mesh = ports.topology == "mesh";
  const bool ring = ports.topology == "ring";
  const double links = mesh ? static_cast<double>(npus - 1) : 1.0;
  constexpr double kLinkUnit = 1024.0 * 1024.0 * 1024.0;  // ASTRA-sim's GB
  const double latency_ns = ports.latency ? ports.latency->seconds() * 1e9 : 1000.0;
  constexpr std::string_view kNode = R"({{
  "name": "node of {}",
  "network": {{"topology": ["{}"], "npus_count": [{}], "bandwidth": [{}], "latency": [{}]}},
  "system": {{"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 1, "collective-optimization": "localBWAware", "local-mem-bw": {},
    "all-reduce-implementation": ["{}"], "all-gather-implementation": ["{}"],
    "reduce-scatter-implementation": ["{}"], "all-to-all-implementation": ["{}"]}},
  "remote_memory": {{"memory-type": "NO_MEMORY_EXPANSION"}}
}})";
  const char* algorithm = mesh ? "direct" : "ring";
  return fmt::format(kNode, npus, mesh ? "FullyConnected" : (ring ? "Ring" : "Switch"), npus,
                     ports.bandwidth.value / links / kLinkUnit, latency_ns, device.memory_bandwidth.value / 1e9,
                     algorithm, algorithm, algorithm, algorithm);
}

}  // namespace

std::string NodePresetOf(const std::string& device, size_t npus) {
  const std::vector<std::string> names = hardware::PresetNames(hardware::PresetKind::kSystem);
  for (const std::string pattern : {"{}_{}GPU", "{}_{}"}) {
    const std::string name = fmt::format(fmt::runtime(pattern), device, npus);
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  }
  return {};
}

std::optional<hardware::System> NodeOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics) {
  auto cluster = hardware::ReferenceCluster(device, npus);
  const bool slice = device.interconnect && device.interconnect->topology == "torus";  // the axes of one that is sold
  const std::string text = slice ? std::string() : NodeText(device, npus);
  if (!text.empty()) return LoadSystemPreset(text, diagnostics);
  if (cluster) return *std::move(cluster);
  diagnostics.Error(kNeedsSystem,
                    fmt::format("no network is known for {} x {}: {}", npus, device.name, cluster.error().message), {},
                    cluster.error().help.empty() ? "name a network with --system; `hespas systems` lists them"
                                                 : cluster.error().help);
  return std::nullopt;
}

std::optional<hardware::System> SystemOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics) {
  if (const std::string name = NodePresetOf(device.name, npus); !name.empty())
    return LoadSystemPreset(name, diagnostics);
  return NodeOfDevice(device, npus, diagnostics);
}

}  // namespace hespas::driver
