// The what-if table: the same run with a faster device or network, without launch costs, with perfect overlap.
//
// - Each row is what `hespas run` answers with the options that the row names, to the picosecond.
// - Only stages that the change concerns are run again.
#pragma once

#include <vector>

#include "driver/stages/fresh_stages.h"
#include "result/what_if.h"

namespace hespas::driver {

// `prepared` comes back as it was. `system` is nullptr where no network was simulated.
std::vector<result::WhatIf> WhatIfs(const RunOptions& options, Prepared& prepared, const Estimated& estimated,
                                    const trace::TraceGraph& traces, const hardware::System* system);

}  // namespace hespas::driver
