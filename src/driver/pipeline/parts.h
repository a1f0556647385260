// Several programs at once (MPMD: a file for each pipeline stage), and one program on devices that differ.
//
// - Each part runs on NPUs of its own. A send or receive without source-target pairs matches the receive or send of the
//   same channel in another part: the k-th NPU of one part talks to the k-th of the other.
// - The answer is that of the slowest NPU; work and memory are those of its part.
#pragma once

#include <optional>

#include "driver/configuration/ranks.h"
#include "driver/stages/run_options.h"
#include "result/run_result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNoPartner{"E0942",
                                           "A send or receive between programs has no partner: exactly one other "
                                           "program has to hold the receive or send of the "
                                           "same channel and size, on as many NPUs."};
// With more than one program, or devices by rank.
std::optional<result::RunResult> RunParts(const RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::driver
