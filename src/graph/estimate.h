// Estimate: what a block (or op) costs on a device, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace hespas::graph {

// What limits the time of an op or block.
enum class Bound : uint8_t { kNone, kCompute, kMemory, kLaunch, kNetwork, kMeasured };

std::string_view BoundName(Bound bound);  // "compute", "memory", ...

// One addend or competitor of a formula, in the order in which `explain` shows them.
struct Term {
  std::string_view name;  // "flops / peak"
  Time time;
};

// Names of the terms that every analytic estimator keeps: what arithmetic, and what moving bytes, would take alone.
inline constexpr std::string_view kComputeTerm = "flops / rate";
inline constexpr std::string_view kMemoryTerm = "bytes / bandwidth";
inline constexpr std::string_view kLaunchTerm = "launch";  // where starting it costs anything

struct Estimate {
  Time time;
  Time sigma;  // standard deviation, 0 where unknown
  Flops flops;
  Bytes bytes;
  Bound bound = Bound::kNone;
  std::vector<Term> terms;
  Time limited;             // of what arithmetic takes alone: the board's power limit is inside already
  std::string_view source;  // which estimator, or "fallback"
};

}  // namespace hespas::graph
