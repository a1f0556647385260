// Flags of XLA's GPU compiler that the passes which are built in follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "optimise/optimise.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kXlaFlag{
    "E0919",
    "A flag of XLA that the built-in passes do not follow, or without a number of bytes. They know "
    "--xla_gpu_all_gather_combine_threshold_bytes=N and its sisters of all_reduce and reduce_scatter, and take no "
    "flags "
    "where they do not run or not for a GPU; --optimise xla hands every flag to XLA's own compiler.",
    Outcome::kUsage};

// From flags as XLA writes them ("--xla_gpu_all_gather_combine_threshold_bytes=31457280"); reports every one that is
// not followed.
std::optional<optimise::CombineLimits> CombineLimitsOf(const std::vector<std::string>& flags, Diagnostics& diagnostics);

}  // namespace hespas::driver
