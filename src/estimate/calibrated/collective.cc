#include "estimate/calibrated/collective.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "estimate/calibrated/machine.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr double kSwitchRanks = 8;  // from which libraries reduce in the switch
constexpr double kLeastLatency = 1;
// us, of a ring's step between hosts: NCCL's own figure for NVLink and its protocol of small messages (tuning.cc).
constexpr double kRingStep = 0.6;

struct Name {
  std::string_view letters;
  CollectiveOp op;
};
constexpr Name kNames[] = {
    {"allreduce", CollectiveOp::kAllReduce},         {"allgather", CollectiveOp::kAllGather},
    {"reducescatter", CollectiveOp::kReduceScatter}, {"alltoall", CollectiveOp::kAllToAll},
    {"collectivepermute", CollectiveOp::kPermute},   {"permute", CollectiveOp::kPermute},
    {"broadcast", CollectiveOp::kAllGather},         {"collectivebroadcast", CollectiveOp::kAllGather}};

Ports PortsOf(const hardware::Device& device) {
  Ports ports;
  if (!device.interconnect) {
    ports.rate = std::max(1.0, device.host_bandwidth.value_or(BytesPerSecond{32e9}).value * 1e-6);
    return ports;
  }
  const hardware::Interconnect& link = *device.interconnect;
  ports.rate = std::max(1.0, link.bandwidth.value * 1e-6);
  ports.mesh = link.topology == "mesh";
  ports.peers = std::max(1, link.domain_size.value_or(link.links.value_or(1) + 1) - 1);
  ports.reducing_switch = link.in_network_reduction;
  ports.devices_per_host = DevicesPerHost(device);
  return ports;
}

}  // namespace

double DevicesPerHost(const hardware::Device& device) {
  const auto found = device.calibration.find("collective.devices_per_host");
  return found == device.calibration.end() ? std::numeric_limits<double>::infinity() : std::max(1.0, found->second);
}

std::optional<CollectiveOp> ParseCollective(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const Name& entry : kNames) {
    if (entry.letters == letters) return entry.op;
  }
  return std::nullopt;
}

CollectiveModel::CollectiveModel(const hardware::Device& device, const Parameters& parameters)
    : ports_(PortsOf(device)), parameters_(ForDevice(parameters, device)) {}

double CollectiveModel::WireBytes(const CollectiveSpec& spec) const {
  const bool reduce = spec.op == CollectiveOp::kAllReduce;
  if (spec.op == CollectiveOp::kPermute) return spec.bytes;
  const double once = spec.bytes * (spec.ranks - 1) / spec.ranks;
  // A mesh has no hop that a rank's own shard could share with the others'.
  const double own = ports_.mesh ? 0 : parameters_.collectives[static_cast<size_t>(spec.op)].own_share;
  const double ring = (reduce ? 2 : 1) * (once + own * spec.bytes / spec.ranks);
  if (!reduce || !ports_.reducing_switch || spec.ranks < kSwitchRanks) return ring;
  return std::min(ring, spec.bytes * parameters_.in_switch_ratio);
}

// Of messages that wait for each other: a ring's where each rank's shard goes round, a tree's or a pairwise exchange's
// doublings elsewhere. On a mesh an all-reduce is made of the former.
double CollectiveModel::Latency(const CollectiveSpec& spec) const {
  const CollectiveConstants& constants = parameters_.collectives[static_cast<size_t>(spec.op)];
  const double near = std::min(spec.ranks, ports_.devices_per_host);
  const bool reduce = spec.op == CollectiveOp::kAllReduce;
  const bool ring =
      spec.op == CollectiveOp::kAllGather || spec.op == CollectiveOp::kReduceScatter || (reduce && ports_.mesh);
  if (ring) return constants.launch_us + constants.hop_us * (near - 1) + kRingStep * (spec.ranks - near);
  return constants.launch_us + constants.hop_us * std::log2(spec.op == CollectiveOp::kAllToAll ? near : spec.ranks);
}

CollectiveTime CollectiveModel::Time(const CollectiveSpec& spec) const {
  if (!(spec.ranks > 1)) return {};
  const CollectiveConstants& constants = parameters_.collectives[static_cast<size_t>(spec.op)];
  double rate = ports_.rate * constants.link_fraction;
  if (ports_.mesh) rate *= std::min(1.0, (spec.op == CollectiveOp::kPermute ? 1 : spec.ranks - 1) / ports_.peers);
  CollectiveTime time;
  time.latency_us = std::max(kLeastLatency, Latency(spec));
  time.wire_us = std::max(0.0, WireBytes(spec)) / rate;
  time.ramp_us = constants.ramp * std::sqrt(time.latency_us * time.wire_us);
  time.us = time.latency_us + time.wire_us + time.ramp_us;
  const auto op = static_cast<size_t>(spec.op);
  time.wire_sigma_us = parameters_.collective_sigma[op] * time.wire_us;
  time.latency_sigma_us = parameters_.collective_latency_sigma[op] * time.latency_us;
  time.ramp_sigma_us = parameters_.collective_ramp_sigma[op] * time.ramp_us;
  time.sigma_us = std::hypot(time.wire_sigma_us, time.latency_sigma_us, time.ramp_sigma_us);
  return time;
}

}  // namespace hespas::estimate::calibrated
