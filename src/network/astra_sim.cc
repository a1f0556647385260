#include "network/astra_sim.h"

#include <algorithm>

#include "network/levels.h"
#include "simulate/simulate.h"

namespace hespas::network {
namespace {

constexpr double kNoTransmission = 1e9;  // factor on a bandwidth
constexpr uint32_t kGroup = 1;

trace::Program ProgramOf(const trace::Node& node, trace::NodeKind kind, uint32_t peer) {
  trace::Node only{.id = 0, .kind = kind, .collective = node.collective, .size = node.size, .name = "priced"};
  if (kind == trace::NodeKind::kCollective) {
    only.group = kGroup;
  } else {
    only.peer = static_cast<int32_t>(peer);
  }
  trace::Program program;
  program.nodes.push_back(only);
  return program;
}

// A trace has a node at least.
trace::Program Idle() {
  trace::Program program;
  program.nodes.push_back({.id = 0, .kind = trace::NodeKind::kCompute, .name = "idle"});
  return program;
}

// The node at its members; the other ranks do nothing.
trace::TraceGraph TraceOf(const trace::Node& node, std::span<const uint32_t> members, size_t npus) {
  trace::TraceGraph trace;
  trace.program_of_rank.assign(npus, 0);
  trace.programs.push_back(Idle());
  if (node.kind == trace::NodeKind::kCollective) {
    trace.programs.push_back(ProgramOf(node, trace::NodeKind::kCollective, 0));
    trace.groups[kGroup].assign(members.begin(), members.end());
    for (const uint32_t rank : members) trace.program_of_rank[rank] = 1;
  } else {
    trace.programs.push_back(ProgramOf(node, trace::NodeKind::kSend, members.back()));
    trace.programs.push_back(ProgramOf(node, trace::NodeKind::kReceive, members.front()));
    trace.program_of_rank[members.front()] = 1;
    trace.program_of_rank[members.back()] = 2;
  }
  return trace;
}

}  // namespace

Time AstraSimModel::TimeOf(const trace::Node& node, std::span<const uint32_t> members,
                           const hardware::System& system) const {
  Diagnostics unused;
  const auto simulated = simulate::Simulate(TraceOf(node, members, system.npus()), system,
                                            {.resolution = simulate::Resolution::kPicosecond}, unused);
  return simulated ? simulated->time(simulated->finish()) : Time();
}

Price AstraSimModel::PriceOf(const trace::Node& node, std::span<const uint32_t> members) const {
  Price price{.algorithm = "of the system file"};
  if (members.size() < 2 || std::ranges::any_of(members, [&](uint32_t rank) { return rank >= system_.npus(); }))
    return price;
  price.time = TimeOf(node, members, system_);
  hardware::System ideal = system_;
  for (hardware::NetworkDimension& dimension : ideal.dimensions) dimension.bandwidth *= kNoTransmission;
  const Time latency = std::min(price.time, TimeOf(node, members, ideal));
  price.latency_us = latency.seconds() * 1e6;
  price.wire_us = (price.time - latency).seconds() * 1e6;
  for (const Level& level : LevelsOf(members, system_)) {
    for (size_t axis = 0; axis < level.axes.size(); ++axis) {
      hardware::System faster = system_;
      faster.dimensions[level.dimension + axis].bandwidth *= kNoTransmission;
      const Time without = std::min(price.time, TimeOf(node, members, faster));
      price.levels.push_back({.dimension = level.dimension + axis,
                              .ranks = level.axes[axis].extent,
                              .wire_us = (price.time - without).seconds() * 1e6});
    }
  }
  return price;
}

}  // namespace hespas::network
