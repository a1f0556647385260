// Several programs at once (MPMD: a file for each pipeline stage), and one program on devices that differ.
//
// - Each part runs on NPUs of its own. A send or receive without source-target pairs meets the receive or send of the
//   same channel in another part: the k-th NPU of one part talks to the k-th of the other.
// - The answer is that of the slowest NPU; work and memory are those of its part.
#pragma once

#include <string>
#include <vector>

#include "driver/pipeline/run.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNoPartner{"E0942",
                                           "A send or receive between programs has no partner: exactly one other "
                                           "program has to hold the receive or send of the "
                                           "same channel and size, on as many NPUs."};
inline constexpr DiagnosticKind kBadPlacement{
    "E0943",
    "--placement names the NPUs of each program, in order, as FIRST-LAST or one number; together they are all NPUs "
    "from "
    "0 on, none twice. --rank-devices reads FIRST-LAST=DEVICE in the same way.",
    Outcome::kUsage};

// "4-7" or "4".
Result<std::vector<uint32_t>> ParseRanks(const std::string& text);

// With more than one program, or devices by rank.
std::optional<result::RunResult> RunParts(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
