// Logical topologies over which collectives run: rings of NPUs and double binary trees (spec astra-sim sections
// 4, 6.4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hardware/system.h"

namespace hespas::simulate {

// Positions 0..size-1; `me` is the position of the NPU that looks.
struct LogicalRing {
  uint32_t size = 1;
  uint32_t me = 0;
  uint64_t base = 0;
  uint64_t stride = 1;
  const std::vector<uint32_t>* members = nullptr;  // a group's, in listed order; nullptr: base + position * stride
  bool local = false;                              // of a group: ASTRA-sim charges 10 ns at endpoints there

  uint32_t rank(uint64_t position) const {
    return members != nullptr ? (*members)[position] : static_cast<uint32_t>(base + position * stride);
  }
  // The rank `steps` < size away from `position`.
  uint32_t Neighbour(uint32_t position, uint64_t steps, bool clockwise) const {
    const uint64_t at = clockwise ? position + steps : uint64_t{position} + size - steps;
    return rank(at >= size ? at - size : at);
  }
};

// Dimension `dimension` of the logical topology that `algorithms` (one a network dimension) spans, as `rank` sees it.
LogicalRing RingOfDimension(const hardware::System& system, const std::vector<hardware::Algorithm>& algorithms,
                            size_t dimension, uint32_t rank);

// The number of logical dimensions: the list ends at its first flat algorithm.
size_t LogicalDimensions(const std::vector<hardware::Algorithm>& algorithms);

LogicalRing RingOfGroup(const std::vector<uint32_t>& members, uint32_t rank);

// An NPU's place in one of the two trees.
struct TreePlace {
  static constexpr uint32_t kNobody = 0xFFFFFFFFu;
  uint32_t parent = kNobody;
  uint32_t left = kNobody;
  uint32_t right = kNobody;
};

// `second`: the "min" tree, whose root has only a right child. Nothing if the tree has no place for `rank`.
std::optional<TreePlace> PlaceInTree(const hardware::System& system, const std::vector<hardware::Algorithm>& algorithms,
                                     size_t dimension, uint32_t rank, bool second);

}  // namespace hespas::simulate
