// What a run holds in memory, and whether the device has as much.
#pragma once

#include "driver/stages/estimate.h"
#include "result/run_result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kDoesNotFit{
    "E0940",
    "The program needs more memory than the device has, and --require-fit was given. Choose a device with more memory, "
    "more devices, a smaller batch, or rematerialisation in the program.",
    Outcome::kCannotRun};

inline constexpr DiagnosticKind kExceedsMemory{
    "W0940",
    "The program needs more memory than the device has. Its times are those that it would have with enough memory, so "
    "that devices can be compared: communication overlaps as if memory were no limit. --schedule-limit gives the "
    "schedule that XLA makes under the memory limit instead, with next to no overlap; --require-fit makes this an "
    "error."};

struct MemoryOptions {
  bool require_fit = false;  // more memory than the device has is an error
};

// Fills `memory`, `peak_memory` and, where the device's capacity is known, `fits_in_memory`.
void FillMemory(const Prepared& prepared, const Estimated& estimated, bool by_layer, result::RunResult& result);

// With --require-fit: an error where the program does not fit.
Status CheckFit(const RunOptions& options, const Prepared& prepared, const result::RunResult& result);

}  // namespace hespas::driver
