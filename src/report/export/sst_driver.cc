#include "report/export/sst_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace hespas::report {
namespace {

using hardware::DimensionKind;
using hardware::NetworkDimension;
using hardware::PhysicalTopology;
using hardware::TopologyKind;

constexpr double kGigabyte = 1073741824.0;  // network.yml counts in 2^30 bytes
constexpr uint64_t kFlitBytes = 64;
constexpr uint64_t kPacketBytes = 512;

constexpr const char* kProgram = R"(# Written by `hespas simulate --network-backend sst`. Run it with run.sh beside it.
import sst
from sst.merlin.base import *
from sst.merlin.endpoint import *
from sst.merlin.interface import *
from sst.merlin.topology import *

FOLDER = {folder}
HOSTS = {hosts}  # of the ranks


class NpuJob(Job):
    def __init__(self, size):
        Job.__init__(self, 0, size)

    def getName(self):
        return "Hespas"

    def build(self, nID, extraKeys, link=None):
        rank = self._nid_map[nID]
        npu = sst.Component("npu_%d" % rank, "hespas.endpoint")
        npu.addParams(extraKeys)
        npu.addParams({{"rank": rank, "run": FOLDER + "/run.json", "packet_bytes": {packet}}})
        place = (npu, "networkIF", 0, self.job_id, self.size, rank, True)
        return self.network_interface.build(*place, link) if link else self.network_interface.build(*place)


router = hr_router()
router.link_bw = "{bandwidth}B/s"
router.flit_size = "{flit}B"
router.xbar_bw = "{crossbar}B/s"
router.input_latency = "0ns"
router.output_latency = "0ns"
router.input_buf_size = "{buffer}B"  # what is under way on a link and back, so that credits never run out
router.output_buf_size = "{buffer}B"
router.num_vns = 1
router.xbar_arb = "merlin.xbar_arb_lru"

{topology}topo.router = router
topo.link_latency = "{latency}ps"

interface = LinkControl()
interface.link_bw = "{bandwidth}B/s"
interface.input_buf_size = "{buffer}B"
interface.output_buf_size = "{buffer}B"

job = NpuJob(len(HOSTS))
job.network_interface = interface
system = System()
system.setTopology(topo)
system.allocateNodes(job, "indexed", HOSTS)
system.build()
)";

std::string TopologyText(const PhysicalTopology& topology, bool hosts_are_routers) {
  const std::string host_latency = hosts_are_routers ? "topo.host_link_latency = \"1ps\"\n" : "";
  const auto mesh = [&](const char* name) {
    return fmt::format(
        "topo = {}()\ntopo.shape = \"{}\"\ntopo.width = \"{}\"\ntopo.local_ports = {}\n"
        "topo.bundleEndpoints = True\n",
        name, fmt::join(topology.sizes, "x"), fmt::join(std::vector<int>(topology.sizes.size(), 1), "x"),
        topology.hosts_per_router);
  };
  switch (topology.kind) {
    case TopologyKind::kTorus:
      return mesh("topoTorus") + "topo.host_link_latency = \"1ps\"\n";
    case TopologyKind::kHyperX:
      return mesh("topoHyperX") + "topo.algorithm = \"DOR\"\n" + host_latency;
    case TopologyKind::kFatTree: {
      std::string shape;
      for (size_t level = 0; level < topology.sizes.size(); ++level) {
        shape += fmt::format("{}{}", level == 0 ? "" : ":", topology.sizes[level]);
        if (level < topology.uplinks.size()) shape += fmt::format(",{}", topology.uplinks[level]);
      }
      return fmt::format("topo = topoFatTree()\ntopo.shape = \"{}\"\n", shape);
    }
    case TopologyKind::kDragonfly:
      return fmt::format(
          "topo = topoDragonFly()\ntopo.hosts_per_router = {}\ntopo.routers_per_group = {}\n"
          "topo.num_groups = {}\ntopo.intergroup_links = {}\ntopo.algorithm = [\"minimal\"]\n",
          topology.sizes[0], topology.sizes[1], topology.sizes[2], topology.sizes[2] > 1 ? 1 : 0);
    default:
      return fmt::format("topo = topoSingle()\ntopo.num_ports = {}\n", topology.hosts());
  }
}

bool All(const std::vector<NetworkDimension>& dimensions, DimensionKind kind) {
  return std::all_of(dimensions.begin(), dimensions.end(), [&](const auto& d) { return d.kind == kind; });
}

}  // namespace

Result<MerlinNetwork> MerlinNetworkOf(const hardware::System& system) {
  const std::vector<NetworkDimension>& dimensions = system.dimensions;
  MerlinNetwork network;
  PhysicalTopology& topology = network.topology;
  if (dimensions.empty()) return MakeError(kNotForMerlin, "the system has no network dimension");
  topology.bandwidth = dimensions[0].bandwidth;
  topology.latency = dimensions[0].latency;
  for (const NetworkDimension& dimension : dimensions) topology.sizes.push_back(dimension.npus);
  if (All(dimensions, DimensionKind::kRing)) {
    topology.kind = TopologyKind::kTorus;
  } else if (All(dimensions, DimensionKind::kFullyConnected)) {
    topology.kind = TopologyKind::kHyperX;
    network.hosts_are_routers = true;
  } else if (All(dimensions, DimensionKind::kSwitch)) {
    topology.kind = dimensions.size() == 1 ? TopologyKind::kSwitch : TopologyKind::kFatTree;
    double carried = 1;  // hosts below a switch
    for (size_t level = 0; level + 1 < dimensions.size(); ++level) {
      carried *= dimensions[level].npus;
      const double uplinks = std::round(carried * dimensions[level + 1].bandwidth / dimensions[0].bandwidth);
      topology.uplinks.push_back(static_cast<uint32_t>(std::clamp(uplinks, 1.0, carried)));
      if (level > 0) topology.uplinks.back() = std::max(1u, topology.uplinks.back() / topology.uplinks[level - 1]);
    }
  } else if (dimensions.size() == 3 && dimensions[0].kind == DimensionKind::kSwitch &&
             dimensions[1].kind == DimensionKind::kFullyConnected &&
             dimensions[2].kind == DimensionKind::kFullyConnected) {
    topology.kind = TopologyKind::kDragonfly;
  } else {
    return MakeError(kNotForMerlin, "Merlin has no topology for these dimensions", {},
                     "name one with --physical-topology, or use --network-backend simgrid");
  }
  return network;
}

std::string SstDriver(const MerlinNetwork& network, const std::string& folder, const std::vector<uint32_t>& hosts) {
  const double bandwidth = network.topology.bandwidth * kGigabyte;
  const auto round_trip = static_cast<uint64_t>(2 * network.topology.latency * 1e-9 * bandwidth);
  const uint64_t buffer = (round_trip + 16 * kPacketBytes + kFlitBytes - 1) / kFlitBytes * kFlitBytes;
  return fmt::format(fmt::runtime(kProgram), fmt::arg("folder", JsonText(nlohmann::json(folder))),
                     fmt::arg("hosts", JsonText(nlohmann::json(hosts))), fmt::arg("packet", kPacketBytes),
                     fmt::arg("bandwidth", std::llround(bandwidth)), fmt::arg("flit", kFlitBytes),
                     fmt::arg("crossbar", std::llround(4 * bandwidth)), fmt::arg("buffer", buffer),
                     fmt::arg("topology", TopologyText(network.topology, network.hosts_are_routers)),
                     fmt::arg("latency", std::max<int64_t>(1, std::llround(network.topology.latency * 1000))));
}

}  // namespace hespas::report
