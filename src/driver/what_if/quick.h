// The what-if table without a run: about what each change would give, from the terms that the estimates keep.
//
// - For the headline of every run. `--output` runs each change instead (what_if.h).
// - Kernels, overlap and waiting stay as they are: computation shrinks by its terms, and what communication hides
//   behind shrinks with it.
#pragma once

#include <vector>

#include "driver/stages/run_options.h"
#include "driver/what_if/what_if.h"
#include "result/run_result.h"

namespace hespas::driver {

// Changes that shorten the step.
std::vector<result::WhatIf> QuickWhatIfs(const RunOptions& options, const Prepared& prepared,
                                         const Estimated& estimated, const result::RunResult& result);

}  // namespace hespas::driver
