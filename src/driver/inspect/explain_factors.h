// What a kernel's time is made of in the calibrated model, factor by factor, and the operations that it holds.
#pragma once

#include <string>
#include <vector>

#include "driver/pipeline/pipeline.h"
#include "report/text/explain.h"

namespace hespas::driver {

// One for each part of the formula; empty for other estimators, and for blocks that hold calls or loops.
std::vector<report::Parameter> FactorsOf(const Finished& run, const RunOptions& options, graph::BlockId block);

}  // namespace hespas::driver
