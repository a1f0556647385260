#include "network/faulty_levels.h"

#include <algorithm>
#include <vector>

namespace hespas::network {
namespace {

using hardware::DimensionKind;
using hardware::LinkFault;
using hardware::System;

constexpr double kDetour = 0.5;  // the links of a third device, or of the line beside it, carry twice

bool Contains(std::span<const uint32_t> members, uint32_t rank) {
  return std::ranges::find(members, rank) != members.end();
}

// Whether two ranks are on one ring of a dimension.
bool OnOneRing(const System& system, uint32_t a, uint32_t b, size_t dimension) {
  const uint64_t inner = hardware::StrideOf(system, dimension);
  const uint64_t outer = inner * system.dimensions[dimension].npus;
  return a % inner == b % inner && a / outer == b / outer;
}

// Whether members use the link from the fault's place to the next: a line of them what lies between its ends, a ring
// all but its longest way without a member, which leaves a line.
bool LiesBetween(const LinkFault& fault, std::span<const uint32_t> members, const System& system) {
  const hardware::NetworkDimension& dimension = system.dimensions[fault.dimension];
  const uint64_t n = dimension.npus;
  const uint64_t stride = hardware::StrideOf(system, fault.dimension);
  const uint64_t at = fault.rank / stride % n;
  std::vector<bool> taken(n);  // behind the link first
  for (const uint32_t rank : members) taken[(rank / stride + n - 1 - at) % n] = true;
  const auto begin = std::ranges::find(taken, true);
  uint64_t longest = 0;
  auto last = begin;
  for (auto place = begin; place != taken.end(); place = std::find(place + 1, taken.end(), true)) {
    longest = std::max<uint64_t>(longest, place - last);
    last = place;
  }
  const auto end = taken.begin() + static_cast<int64_t>(n - 1 - at);  // a line's first place
  if (dimension.open && n > 2)
    return std::find(taken.begin(), end, true) != end && std::find(end, taken.end(), true) != taken.end();
  const uint64_t across = n - (last - begin);
  return across == 1 || across < longest;
}

bool Concerns(const LinkFault& fault, std::span<const uint32_t> members, const System& system) {
  const DimensionKind kind = system.dimensions[fault.dimension].kind;
  if (kind == DimensionKind::kSwitch) return Contains(members, fault.rank);
  if (kind == DimensionKind::kFullyConnected) return Contains(members, fault.rank) && Contains(members, *fault.peer);
  return std::ranges::any_of(members, [&](uint32_t m) { return OnOneRing(system, m, fault.rank, fault.dimension); }) &&
         LiesBetween(fault, members, system);
}

}  // namespace

void ApplyFaults(const std::vector<LinkFault>& faults, std::span<const uint32_t> members, const System& system,
                 std::vector<Level>& levels) {
  for (const LinkFault& fault : faults) {
    for (Level& level : levels) {
      const size_t axis = fault.dimension - level.dimension;
      if (fault.dimension < level.dimension || axis >= level.axes.size() || !Concerns(fault, members, system)) continue;
      if (fault.factor > 0) {
        level.slowest_link = std::min(level.slowest_link, fault.factor);
      } else if (level.kind == DimensionKind::kRing && level.axes[axis].wraps) {
        level.axes[axis].wraps = false;
      } else if (level.kind != DimensionKind::kSwitch) {
        level.slowest_link = std::min(level.slowest_link, kDetour);
      } else {
        const auto adapters = static_cast<double>(hardware::StrideOf(system, fault.dimension));
        level.slowest_link = std::min(level.slowest_link, (adapters - 1) / adapters);
      }
    }
  }
}

}  // namespace hespas::network
