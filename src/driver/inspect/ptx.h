// What the kernels of a program or of PTX texts do, launch by launch (`hespas ptx`).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "driver/pipeline/run.h"
#include "report/text/table.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNeedsGrid{
    "E0581",
    "PTX says nothing about its launch: give --grid X,Y,Z, and --block X,Y,Z where the kernel names no `.maxntid`.",
    Outcome::kUsage};

struct PtxQuestion {
  std::string input;                    // a program, or a file that ends with .ptx
  std::vector<int64_t> grid, block;     // of PTX texts
  std::optional<int64_t> shared_bytes;  // of PTX texts: given at the launch
};

// One row a launch: counts of instructions of warps for a block and for the grid, traffic, occupancy, time.
// `run` names device, tools and limits.
std::optional<report::Table> PtxTable(const PtxQuestion& question, const RunOptions& run, Diagnostics& diagnostics);

}  // namespace hespas::driver
