// The levels of a network that a group of ranks spans, innermost first.
//
// - A level is a dimension in which the members take several places; neighbouring rings with equal links are one torus,
//   whose axes move data at the same time.
// - Groups that do not fill a box (0 and 5 of [4, 2]) span the outermost dimensions that tell their members apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hardware/system.h"

namespace hespas::network {

struct Axis {
  double extent = 2;  // places that the members take
  bool wraps = false;
};

struct Level {
  size_t dimension = 0;  // the first, of a torus
  hardware::DimensionKind kind = hardware::DimensionKind::kSwitch;
  std::vector<Axis> axes;   // of a torus several, else one
  double link_rate = 1;     // byte/us of one link, one way
  double latency_us = 0;    // of one link
  double peers = 1;         // links of a rank on a mesh
  double slowest_link = 1;  // factor on the rate, of a link that all wait for

  double ranks() const;
};

std::vector<Level> LevelsOf(std::span<const uint32_t> members, const hardware::System& system);

}  // namespace hespas::network
