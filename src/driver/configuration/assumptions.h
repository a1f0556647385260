// What the user tells about a program that does not tell it itself: iterations, branches taken, balance of experts,
// another number of devices.
//
// - Kept as attributes of the ops concerned, so that every later stage sees the same program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadAssumption{
    "E0941",
    "An assumption is out of range: branch probabilities lie between 0 and 1 and add up to 1, iterations are not "
    "negative, and the imbalance of experts (the busiest device's load over the mean) is at least 1.",
    Outcome::kUsage};

inline constexpr DiagnosticKind kUnusedAssumption{
    "W0987",
    "An assumption concerns nothing in the program: --trip-count is for loops whose iterations are not known, "
    "--branch-probabilities for conditionals with as many branches, --moe-imbalance for ragged matmuls and ragged "
    "all-to-alls, --cost for custom calls of that name. It changes nothing."};

struct Assumptions {
  int64_t trip_count = -1;  // of loops that do not say; -1: unknown
  std::vector<double>
      branch_probabilities;  // of case and if with as many branches; empty: the most expensive branch counts
  int64_t devices = 0;       // that the program is carried over to (transform/retarget.h); 0: its own
  double moe_imbalance = 1;  // busiest device's load over the mean, for ragged ops
  std::vector<std::string> kernel_costs;  // of custom calls (driver/configuration/kernel_costs.h)
};

// Warns of what holds for no op of the program.
Status Apply(const Assumptions& assumptions, ir::Module& module, Diagnostics& diagnostics);

}  // namespace hespas::driver
