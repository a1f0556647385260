// NPUs that compute more slowly than their device says: `--straggler 3=1.2`, `--straggler 0-7=1.5`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadStraggler{
    "E0946",
    "--straggler names NPUs of the run and a factor above 0 on the time of their computation, as NPU=FACTOR or "
    "FIRST-LAST=FACTOR.",
    Outcome::kUsage};

// The factor of each NPU up to the last one that is named; empty: all compute at their device's speed.
Result<std::vector<double>> ComputeScale(const std::vector<std::string>& stragglers, size_t npus);

}  // namespace hespas::driver
