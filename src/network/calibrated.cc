#include "network/calibrated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hardware/capability.h"
#include "hardware/cluster.h"
#include "network/faulty_levels.h"
#include "simulate/collective/analytical.h"
#include "trace/asynchronous.h"

namespace hespas::network {
namespace {

using hardware::DimensionKind;

constexpr double kSwitchRanks = 8;      // from which NCCL reduces in the switch of a host (NVLS)
constexpr double kSwitchHops = 2;       // to the switch, and back to all
constexpr double kSwitchStartUs = 25;   // NCCL, src/graph/tuning.cc, hwLatencies of NVLS
constexpr double kLlBytes = 512 * 8;    // of a channel's threads in one step of LL: NCCL, src/include/comm.h
constexpr double kTreeFraction = 0.92;  // of a tree's links: NCCL, src/graph/tuning.cc, busBw of NCCL_ALGO_TREE

// An all-reduce is a reduce-scatter and an all-gather.
double PassesOf(Operation op) { return op == Operation::kAllReduce ? 2 : 1; }

// Messages that wait for each other. A ring of links passes parts both ways; a switched group passes them round.
double HopsOf(Operation op, const Level& level) {
  if (op == Operation::kPermute) return 1;
  double hops = 0;
  for (const Axis& axis : level.axes) {
    const double around = axis.wraps ? std::floor(axis.extent / 2) : axis.extent - 1;
    const bool at_once = op == Operation::kAllToAll || op == Operation::kGather;
    hops += at_once && level.kind != DimensionKind::kRing ? std::log2(axis.extent)
            : level.kind == DimensionKind::kRing          ? around
                                                          : axis.extent - 1;
  }
  return PassesOf(op) * hops;
}

// Bytes a rank's links of this level carry, if the level waits for the others: what is left for it, within the level.
double Alone(const CollectiveSize& size, const Level& level, double inside, double all) {
  const double n = level.ranks();
  if (size.op == Operation::kPermute) return size.bytes;
  if (size.op == Operation::kBroadcast) return size.bytes / inside;               // a chain through all ranks
  if (size.op == Operation::kGather) return size.bytes * inside * (n - 1) / all;  // the links of one rank
  if (size.op != Operation::kAllToAll) return PassesOf(size.op) * size.bytes / inside * (n - 1) / n;
  if (level.kind != DimensionKind::kRing) return size.bytes * inside * (n - 1) / all;
  // By bisection: half of the data crosses the middle of the longest axis, where a torus has two links.
  double most = 0;
  for (const Axis& axis : level.axes) most = std::max(most, axis.extent / (axis.wraps ? 8 : 4));
  return size.bytes * inside * n / all * most;
}

bool GoesRound(Operation op) {
  return op == Operation::kAllReduce || op == Operation::kAllGather || op == Operation::kReduceScatter;
}

// And if a ring through all levels at once passes it (NCCL's rings visit the ranks of a host, then the next host).
double Passing(const CollectiveSize& size, const Level& level, double inside, double all) {
  if (!GoesRound(size.op)) return Alone(size, level, inside, all);
  return PassesOf(size.op) * size.bytes / inside * (all - 1) / all;
}

double Carried(bool flat, const CollectiveSize& size, const Level& level, double inside, double all) {
  return flat ? Passing(size, level, inside, all) : Alone(size, level, inside, all);
}

double RanksOf(const std::vector<Level>& levels, size_t count) {
  double ranks = 1;
  for (size_t i = 0; i < count; ++i) ranks *= levels[i].ranks();
  return ranks;
}

}  // namespace

CalibratedModel::CalibratedModel(const hardware::Device& device, const hardware::System& system,
                                 const NetworkConstants& constants, std::vector<hardware::LinkFault> faults)
    : device_(device),
      system_(system),
      constants_(constants),
      faults_(std::move(faults)),
      links_(constants.Of(device.interconnect ? device.interconnect->name : "")),
      launch_(constants.LaunchOf(device.interconnect ? device.interconnect->name : "",
                                 hardware::ComputeCapability(device))),
      expected_(constants.ExpectedOf(device.interconnect ? device.interconnect->name : "")),
      data_centre_(constants.DataCentreOf(device)),
      clock_(device.clock_hz.value_or(constants.clock_hz) * 1e-6) {}

// As the system says; else, dimensions with the links of the innermost one are the same fabric.
bool CalibratedModel::IsOuter(const Level& level) const {
  if (system_.dimensions[level.dimension].between_hosts) return true;
  if (level.dimension == 0 || level.kind == DimensionKind::kRing) return false;
  const hardware::NetworkDimension& inner = system_.dimensions.front();
  return std::any_of(system_.dimensions.begin() + 1,
                     system_.dimensions.begin() + static_cast<long>(level.dimension) + 1,
                     [&](const hardware::NetworkDimension& d) {
                       return d.kind != inner.kind || d.bandwidth != inner.bandwidth || d.latency != inner.latency;
                     });
}

void CalibratedModel::WarnOfAssumptions(Diagnostics& diagnostics) const {
  if (!IsTpu() || hardware::ReferenceRate(device_) > 0) return;
  for (size_t i = 0; i < system_.dimensions.size(); ++i) {
    const hardware::NetworkDimension& dimension = system_.dimensions[i];
    if (!IsOuter({.dimension = i, .kind = dimension.kind})) continue;
    diagnostics.Warning(
        kAssumedHosts,
        fmt::format("no reference network is known for {}: between slices its hosts are taken to pass "
                    "{:.0f} % of the {:g} Gbit/s that dimension {} states",
                    device_.name, 100 * data_centre_.link_fraction, dimension.bandwidth * 8 * 1.073741824, i),
        {}, fmt::format("measured hosts: --set system.bandwidth[{}]=...", i));
    return;
  }
}

const OuterConstants& CalibratedModel::OuterOf(const Level& level) const {
  if (IsTpu()) return data_centre_;
  return system_.dimensions[level.dimension].tcp ? constants_.tcp : constants_.outer;
}

// GPUDirect-TCPX is set up with NCCL_ALGO=Ring: neither trees nor reductions in a switch.
bool CalibratedModel::PassesSockets(const std::vector<Level>& levels) const {
  return std::any_of(levels.begin(), levels.end(),
                     [&](const Level& level) { return system_.dimensions[level.dimension].tcp; });
}

double CalibratedModel::Rate(const Choice& choice, const CollectiveSize& size, const Level& level) const {
  const double fraction =
      IsOuter(level) ? OuterOf(level).link_fraction : choice.constants.link_fraction * expected_.share;
  double links = 1;
  if (size.op == Operation::kPermute) return level.link_rate * fraction * level.slowest_link;
  if (level.kind == DimensionKind::kFullyConnected) links = std::min(level.ranks() - 1, level.peers);
  if (level.kind == DimensionKind::kRing && size.op != Operation::kAllToAll) {
    links = 0;
    for (const Axis& axis : level.axes) links += axis.wraps ? 2 : 1;
  }
  return level.link_rate * links * fraction * level.slowest_link;
}

bool CalibratedModel::ReducesInSwitch(const CollectiveSize& size, const Level& level) const {
  return size.op == Operation::kAllReduce && size.reducible_in_switch && level.kind == DimensionKind::kSwitch &&
         level.dimension == 0 && level.ranks() >= kSwitchRanks && !IsOuter(level) && expected_.switch_efficiency > 0 &&
         device_.interconnect && device_.interconnect->in_network_reduction;
}

// A rank sends its data once, and of its part the sum to all others.
double CalibratedModel::SwitchTraffic(const CollectiveSize& size, const Level& level) const {
  return size.bytes * (1 + 1 / level.ranks()) * links_.switch_traffic / expected_.switch_efficiency;
}

// A rank's own part passes its memory, not a link; on a mesh no message waits for it.
double CalibratedModel::OwnPart(const Choice& choice, const CollectiveSize& size,
                                const std::vector<Level>& levels) const {
  if (IsOuter(levels.front()) || levels.front().kind == DimensionKind::kFullyConnected) return 0;
  return PassesOf(size.op) * choice.constants.own_share * size.bytes / RanksOf(levels, levels.size());
}

// A ring of NCCL's passes the ranks of every host (src/graph/tuning.cc: nsteps - nInterSteps messages within hosts).
double CalibratedModel::TimesPassed(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels,
                                    size_t at) const {
  if (IsTpu() || choice.tree || !GoesRound(size.op) || ReducesInSwitch(size, levels[at])) return 1;
  double times = 1;
  for (size_t i = at + 1; i < levels.size(); ++i) times *= IsOuter(levels[i]) ? levels[i].ranks() : 1;
  return times;
}

LevelPrice CalibratedModel::OnLevel(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels,
                                    size_t at) const {
  const Level& level = levels[at];
  const bool tree = choice.tree && IsOuter(level);
  LevelPrice price{.dimension = level.dimension, .ranks = level.ranks(), .hops = HopsOf(size.op, level)};
  price.hops *= TimesPassed(choice, size, levels, at);
  price.outer = IsOuter(level);
  if (tree) price.hops = 2 * std::log2(price.ranks);
  if (choice.protocol && ReducesInSwitch(size, level)) price.hops = kSwitchHops;
  const OuterConstants& outer = OuterOf(level);
  const double software = !IsOuter(level) ? choice.constants.hop_us : tree ? outer.tree_hop_us : outer.ring_hop_us;
  price.latency_us = price.hops * (software + level.latency_us);
  double bytes = Carried(choice.flat, size, level, RanksOf(levels, at), RanksOf(levels, levels.size()));
  if (at == 0) bytes += OwnPart(choice, size, levels);
  if (ReducesInSwitch(size, level)) bytes = std::min(bytes, SwitchTraffic(size, level));
  price.wire_us = bytes / Rate(choice, size, level) / (tree ? kTreeFraction : 1);
  return price;
}

bool CalibratedModel::IsPcie() const { return device_.interconnect && device_.interconnect->name.starts_with("PCIe"); }

// Memory is tens of times as fast as PCIe (27 times on L40S), so a rank's own part costs next to nothing.
OperationConstants CalibratedModel::ConstantsOf(Operation op) const {
  OperationConstants constants = links_.of(op);
  if (IsPcie()) constants.own_share = 0;
  return constants;
}

// Rings of GPUs behind a switch or on PCIe. A ring or mesh of a system's own has no protocols that were measured.
bool CalibratedModel::FollowsNccl(const CollectiveSize& size, const std::vector<Level>& levels) const {
  return GoesRound(size.op) && !IsTpu() && links_.protocols && device_.interconnect &&
         std::all_of(levels.begin(), levels.end(),
                     [&](const Level& level) { return !IsOuter(level) && level.kind == DimensionKind::kSwitch; });
}

// NCCL decides by its own table of the device's links, not by what the system's carry.
CalibratedModel::Choice CalibratedModel::InHost(const CollectiveSize& size, const std::vector<Level>& levels) const {
  const hardware::Interconnect& links = *device_.interconnect;
  const bool in_switch = levels.size() == 1 && ReducesInSwitch(size, levels.front());
  const NcclChoice nccl = ChoiceOfNccl(size.op, size.bytes,
                                       {.ranks = RanksOf(levels, levels.size()),
                                        .bandwidth = links.bandwidth.value * 1e-6 * expected_.share,
                                        .capability = hardware::ComputeCapability(device_),
                                        .nvlink = !IsPcie(),
                                        .switch_efficiency = in_switch ? expected_.switch_efficiency : 0});
  Choice choice{
      .algorithm = nccl.in_switch ? "NVLS" : "ring", .constants = ConstantsOf(size.op), .protocol = nccl.protocol};
  const ProtocolConstants& constants = links_.protocol(nccl.protocol);
  choice.constants.ramp = nccl.in_switch ? 0 : constants.ramp;
  if (nccl.protocol == Protocol::kSimple) return choice;
  choice.constants.link_fraction = constants.link_fraction;
  if (!IsPcie()) choice.constants.own_share = constants.own_share;
  return choice;
}

double CalibratedModel::StartOf(const Choice& choice, const CollectiveSize& size,
                                const std::vector<Level>& levels) const {
  if (ReducesInSwitch(size, levels.front())) return kSwitchStartUs;
  const double ranks = RanksOf(levels, levels.size());
  const ProtocolConstants& constants = links_.protocol(*choice.protocol);
  double starts = constants.start + constants.step * PassesOf(size.op) * (ranks - 1);
  // NCCL takes fewer threads for less than these have to send.
  if (*choice.protocol == Protocol::kLl) starts *= std::min(1.0, size.bytes / (kLlBytes * ranks));
  return starts * launch_.of(size.op).launch_cycles / clock_;
}

Price CalibratedModel::With(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels) const {
  Price price{.algorithm = choice.algorithm, .launch_us = launch_.of(size.op).launch_cycles / clock_};
  const double all = RanksOf(levels, levels.size());
  double one_by_one = 0;
  double inside_hosts = 0;
  double fill = 0;
  double slowest = 0;
  double slowest_fill = 0;
  size_t binding = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    LevelPrice alone = OnLevel(choice, size, levels, i);
    const double inside = RanksOf(levels, i);
    const double bytes = Carried(choice.flat, size, levels[i], inside, all);
    alone.first_us = alone.wire_us * std::min(1.0, constants_.chunk_bytes / std::max(1.0, bytes));
    // Where the switch reduces, no ring passes it.
    const bool ring = bytes > 0 && !ReducesInSwitch(size, levels[i]);
    price.sent_bytes += ring ? bytes : std::min(bytes, SwitchTraffic(size, levels[i]));
    const double more = ring ? Passing(size, levels[i], inside, all) - bytes : 0;
    alone.passing_us = alone.wire_us + more / Rate(choice, size, levels[i]);
    price.latency_us += alone.latency_us;
    one_by_one += alone.wire_us;
    if (!alone.outer) inside_hosts += alone.wire_us;
    fill += alone.first_us;
    if (alone.passing_us >= slowest) {
      slowest = alone.passing_us;
      slowest_fill = alone.first_us;
      binding = alone.dimension;
    }
    price.levels.push_back(alone);
  }
  const double together = slowest + fill - slowest_fill;
  price.wire_us = std::min(one_by_one, together);
  if (together <= one_by_one) price.binding = binding;
  // Adapters read memory themselves; the protocols that ramp up are those of a host's links.
  if (choice.protocol) price.start_us = StartOf(choice, size, levels);
  price.ramp_us = choice.constants.ramp * std::sqrt(price.launch_us * std::min(price.wire_us, inside_hosts));
  price.time =
      Time::Seconds((price.launch_us + price.latency_us + price.start_us + price.wire_us + price.ramp_us) * 1e-6);
  return price;
}

std::string_view CalibratedModel::NameOf(const CollectiveSize& size, const Level& inner) const {
  const bool rings = inner.kind == DimensionKind::kRing;
  if (size.op == Operation::kPermute || size.op == Operation::kGather) return "direct";
  if (size.op == Operation::kBroadcast) return "chain";
  if (size.op == Operation::kAllToAll) return rings ? "bisection" : "pairwise";
  if (inner.kind == DimensionKind::kFullyConnected) return "direct";
  return rings && inner.axes.size() > 1 ? "torus" : "ring";
}

std::vector<Price> CalibratedModel::ChoicesFor(const CollectiveSize& wanted, std::span<const uint32_t> members) const {
  std::vector<Level> levels = LevelsOf(members, system_);
  ApplyFaults(faults_, members, system_, levels);
  if (levels.empty()) return {{.algorithm = "none"}};
  CollectiveSize size = wanted;
  const bool rings_alone = PassesSockets(levels);
  size.reducible_in_switch &= !rings_alone;
  const Level& inner = levels.front();
  if (FollowsNccl(size, levels)) {
    const Choice choice = InHost(size, levels);
    size.reducible_in_switch &= choice.algorithm == "NVLS";
    return {With(choice, size, levels)};
  }
  const OperationConstants constants = ConstantsOf(size.op);
  std::vector<Price> choices = {
      With({.algorithm = NameOf(size, inner), .flat = rings_alone, .constants = constants}, size, levels)};
  if (size.op == Operation::kAllReduce && IsOuter(levels.back()) && !rings_alone)
    choices.push_back(With({.algorithm = "tree", .tree = true, .constants = constants}, size, levels));
  for (Price& price : choices) {
    const bool large = price.wire_us > price.launch_us + price.latency_us;
    if (large && ReducesInSwitch(size, inner)) price.algorithm = price.algorithm == "tree" ? "NVLSTree" : "NVLS";
  }
  return choices;
}

// Between hosts the least price stands for NCCL's choice, the least time that it expects (src/graph/tuning.cc): trees
// are for an all-reduce, and NVLS for large ones.
Price CalibratedModel::PriceOf(const CollectiveSize& size, std::span<const uint32_t> members) const {
  std::vector<Price> choices = ChoicesFor(size, members);
  return std::move(*std::ranges::min_element(choices, {}, &Price::time));
}

uint32_t CalibratedModel::Links(const trace::Node&, std::span<const uint32_t> members) const {
  uint32_t bits = 0;
  for (const Level& level : LevelsOf(members, system_)) {
    for (size_t axis = 0; axis < level.axes.size(); ++axis) bits |= 1u << (level.dimension + axis) % 31;
  }
  return std::max(bits, 1u);
}

// XLA's GPU runtime enqueues the collectives of a device in one stream, or in that of the computation. A TPU's, on
// other axes of its torus or on the data-centre network, run at the same time. Its program waits for all but permutes
// and gathers, which alone are asynchronous without flags (docs/simulation.md). SparseCores carry the others within a
// slice where flags say so, and from TPU7x on by default (MaxText, benchmarks/xla_flags_library.py: "On Ironwood, by
// default"). The flags are of v4 and later: on TPUv3 none waits.
uint32_t CalibratedModel::Holds(const trace::Node& node, std::span<const uint32_t> members) const {
  const uint32_t links = IsTpu() ? Links(node, members) : 1;
  if (trace::IsInComputeStream(node)) return links | simulate::kHoldsCompute;
  if (!IsTpu()) return links;
  const Operation op = OperationOf(node);
  const bool begun = op == Operation::kAllGather || op == Operation::kPermute || node.tag == trace::kAsynchronous;
  if (begun || device_.architecture == "tpu_v3") return links;
  const std::vector<Level> levels = LevelsOf(members, system_);
  const bool in_slice = std::none_of(levels.begin(), levels.end(), [&](const Level& level) { return IsOuter(level); });
  const bool by_default = device_.architecture == "tpu_v7x" && node.tag != trace::kOnTensorCores;
  return in_slice && (by_default || node.tag == trace::kOnSparseCores) ? links : links | simulate::kHoldsCompute;
}

CollectiveSize CalibratedModel::SizeOf(const trace::Node& node, size_t members) {
  CollectiveSize size{.op = OperationOf(node), .bytes = static_cast<double>(node.size.value)};
  // The trace has each rank's share.
  const bool share = size.op == Operation::kAllGather || node.collective == trace::Collective::kGather;
  if (share && node.kind == trace::NodeKind::kCollective) size.bytes *= static_cast<double>(members);
  return size;
}

Price CalibratedModel::PriceOf(const trace::Node& node, std::span<const uint32_t> members) const {
  return PriceOf(SizeOf(node, members.size()), members);
}

}  // namespace hespas::network
