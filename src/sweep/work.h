// What a device makes of a structure: estimates of its blocks, and their sums.
#pragma once

#include <optional>

#include "driver/figures/utilisation.h"
#include "driver/stages/cost/energy.h"
#include "sweep/structure.h"

namespace hespas::sweep {

struct Work {
  driver::Estimated estimated;  // of the table only `unique` and `of_block` count
  Time compute;                 // of all blocks, one after the other
  Flops flops;
  Bytes bytes;
  driver::StepLoad load;
  std::optional<driver::Power> power;
  double compute_j = 0;         // of all blocks
  std::optional<double> sigma;  // of `compute`, in seconds
};

// As driver::EstimateBlocks, with each distinct op estimated once.
std::optional<Work> EstimateWork(const driver::RunOptions& options, const hardware::Device& device,
                                 const Structure& structure, Diagnostics& diagnostics);

}  // namespace hespas::sweep
