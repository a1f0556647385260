#include "network/levels.h"

#include <algorithm>
#include <cmath>

namespace hespas::network {
namespace {

using hardware::DimensionKind;
using hardware::NetworkDimension;

constexpr double kBinaryGigabytePerSecond = 1073.741824;  // byte/us: a system's GB/s is of 2^30 bytes

// How many different places the members take in each dimension.
std::vector<double> PlacesOf(std::span<const uint32_t> members, const std::vector<NetworkDimension>& dimensions) {
  std::vector<double> places;
  uint64_t stride = 1;
  for (const NetworkDimension& dimension : dimensions) {
    const uint64_t npus = std::max(1u, dimension.npus);
    std::vector<bool> taken(std::min<uint64_t>(npus, members.empty() ? 1 : *std::ranges::max_element(members) + 1));
    double count = 0;
    for (const uint32_t rank : members) {
      const uint64_t place = rank / stride % npus;
      if (!taken[place]) ++count;
      taken[place] = true;
    }
    places.push_back(count);
    stride *= npus;
  }
  return places;
}

// Members that fill no box: the outer dimensions tell them apart as far as they can.
void Trim(std::vector<double>& places, double members) {
  double left = members;
  for (size_t d = places.size(); d-- > 0;) {
    places[d] = std::min(places[d], left);
    left = std::ceil(left / std::max(1.0, places[d]));
  }
}

bool JoinsTorus(const Level& level, const NetworkDimension& dimension, size_t d) {
  return level.kind == DimensionKind::kRing && dimension.kind == DimensionKind::kRing &&
         level.dimension + level.axes.size() == d &&
         level.link_rate == dimension.bandwidth * kBinaryGigabytePerSecond &&
         level.latency_us == dimension.latency * 1e-3;
}

}  // namespace

double Level::ranks() const {
  double product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

std::vector<Level> LevelsOf(std::span<const uint32_t> members, const hardware::System& system) {
  std::vector<double> places = PlacesOf(members, system.dimensions);
  Trim(places, static_cast<double>(members.size()));
  std::vector<Level> levels;
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d] < 2) continue;
    const NetworkDimension& dimension = system.dimensions[d];
    // Two neighbours have one link; a part of a ring is a line.
    const Axis axis{.extent = places[d], .wraps = places[d] > 2 && places[d] == dimension.npus && !dimension.open};
    if (!levels.empty() && JoinsTorus(levels.back(), dimension, d)) {
      levels.back().axes.push_back(axis);
      continue;
    }
    levels.push_back({.dimension = d,
                      .kind = dimension.kind,
                      .axes = {axis},
                      .link_rate = dimension.bandwidth * kBinaryGigabytePerSecond,
                      .latency_us = dimension.latency * 1e-3,
                      .peers = std::max(1.0, static_cast<double>(dimension.npus) - 1)});
  }
  return levels;
}

}  // namespace hespas::network
