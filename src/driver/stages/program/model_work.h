// The matmuls, convolutions and library calls of a program as it was read, and what of them is recomputation.
//
// - MFU counts what the model needs, HFU what the device executes (docs/reports.md). XLA's passes merge and rewrite
//   matmuls, so recomputation is looked for before them; the share that it has is taken over.
#pragma once

#include <optional>
#include <vector>

#include "estimate/arithmetic.h"
#include "ir/module.h"

namespace hespas::driver {

// One entry for each rate.
struct ModelWork {
  std::vector<estimate::Arithmetic> executed;
  std::vector<estimate::Arithmetic> recomputed;
};

// Nothing where the program does not tell what is computed again (ir/facts/recomputation.h). `scheduled`: a compiler's
// result.
std::optional<ModelWork> ModelWorkOf(const ir::Module& module, bool scheduled);

// What of the executed work, by time at peak rates, the model needs: 1 without recomputation.
double ModelShare(const ModelWork& work, const estimate::calibrated::Machine& machine);

}  // namespace hespas::driver
