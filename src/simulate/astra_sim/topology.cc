#include "simulate/astra_sim/topology.h"

#include <algorithm>
#include <bit>

namespace hespas::simulate {

using hardware::Algorithm;
using hardware::System;

namespace {

uint64_t StrideOf(const System& system, size_t dimension) {
  uint64_t stride = 1;
  for (size_t d = 0; d < dimension; ++d) stride *= system.dimensions[d].npus;
  return stride;
}

// In-order neighbours in a perfect tree of 2^k - 1 nodes numbered 0..: the lowest set bit of index + 1 is the height.
TreePlace InPerfectTree(uint32_t index, uint32_t count) {
  const uint32_t number = index + 1;
  const uint32_t half = number & (0u - number);
  TreePlace place;
  if (half > 1) {
    place.left = number - half / 2 - 1;
    place.right = number + half / 2 - 1;
  }
  if (half != (count + 1) / 2) place.parent = ((number & ~half) | half << 1) - 1;
  return place;
}

// Node `index` in in-order numbering: a root with one child, the root of a perfect tree of `count` - 1 nodes.
TreePlace InTree(uint32_t index, uint32_t count, bool second) {
  const uint32_t root = second ? 0 : count - 1;
  const uint32_t first = second ? 1 : 0;           // in-order number of the perfect tree's first node
  const uint32_t child = first + (count - 1) / 2;  // its root
  if (index == root) return second ? TreePlace{.right = child} : TreePlace{.left = child};
  TreePlace place = InPerfectTree(index - first, count - 1);
  for (uint32_t* link : {&place.parent, &place.left, &place.right}) {
    if (*link != TreePlace::kNobody) *link += first;
  }
  if (place.parent == TreePlace::kNobody) place.parent = root;
  return place;
}

}  // namespace

size_t LogicalDimensions(const std::vector<Algorithm>& algorithms) {
  const auto flat = std::find_if(algorithms.begin(), algorithms.end(), [](const Algorithm& a) { return a.flat; });
  return flat == algorithms.end() ? algorithms.size() : static_cast<size_t>(flat - algorithms.begin()) + 1;
}

LogicalRing RingOfDimension(const System& system, const std::vector<Algorithm>& algorithms, size_t dimension,
                            uint32_t rank) {
  if (algorithms[dimension].flat) return {.size = static_cast<uint32_t>(system.npus()), .me = rank};
  const uint64_t stride = StrideOf(system, dimension);
  const uint32_t size = system.dimensions[dimension].npus;
  const auto me = static_cast<uint32_t>(rank / stride % size);
  return {.size = size, .me = me, .base = rank - me * stride, .stride = stride};
}

LogicalRing RingOfGroup(const std::vector<uint32_t>& members, uint32_t rank) {
  const auto at = std::find(members.begin(), members.end(), rank);
  return {.size = static_cast<uint32_t>(members.size()),
          .me = static_cast<uint32_t>(at - members.begin()),
          .members = &members,
          .local = true};
}

std::optional<TreePlace> PlaceInTree(const System& system, const std::vector<Algorithm>& algorithms, size_t dimension,
                                     uint32_t rank, bool second) {
  const uint64_t stride = StrideOf(system, dimension);
  const uint32_t size = system.dimensions[dimension].npus;
  const uint32_t count = std::bit_floor(size);
  const bool last = dimension + 1 == algorithms.size();
  const uint64_t start = last ? rank % stride : rank - rank % (stride * size) + rank % stride;
  const uint64_t index = (rank - start) / stride;
  if (index >= count) return std::nullopt;
  TreePlace place = InTree(static_cast<uint32_t>(index), count, second);
  for (uint32_t* link : {&place.parent, &place.left, &place.right}) {
    if (*link != TreePlace::kNobody) *link = static_cast<uint32_t>(start + *link * stride);
  }
  return place;
}

}  // namespace hespas::simulate
