// On which host of a physical network each rank runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadMapping{
    "E0832",
    "A mapping of ranks to hosts is not `linear`, `random:SEED` or a file that names one host a line, each "
    "once, for every rank.",
    Outcome::kUsage};

// `mapping`: "linear" (rank i on host i), "random:SEED" (the same placement everywhere), or a file with one host a
// line: its number or its name. The result has a host for each rank.
Result<std::vector<uint32_t>> MapRanks(const std::string& mapping, uint32_t ranks,
                                       const std::vector<std::string>& hosts);

}  // namespace hespas::hardware
