// What the user tells about a program that does not tell it itself: iterations, branches taken, balance of experts,
// another number of devices.
//
// - Kept as attributes of the ops concerned, so that every later stage sees the same program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadAssumption{
    "E0941",
    "An assumption makes no sense: branch probabilities lie between 0 and 1 and add up to 1, iterations are not "
    "negative, and the imbalance of experts (the busiest device's load over the mean) is at least 1.",
    Outcome::kUsage};

struct Assumptions {
  int64_t trip_count = -1;                   // of loops that do not say; -1: unknown
  std::vector<double> branch_probabilities;  // of case and if with as many branches; empty: the dearest branch counts
  int64_t devices = 0;                       // that the program is carried over to (optimise/retarget.h); 0: its own
  double moe_imbalance = 1;                  // busiest device's load over the mean, for ragged ops
};

Status Apply(const Assumptions& assumptions, ir::Module& module);

}  // namespace hespas::driver
