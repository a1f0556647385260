// module_stats.json of `hespas run`: each distinct compute block with its estimate, and sums over all blocks.
//
// - Key names are the prototype's where the meaning is the same; times in seconds.
#pragma once

#include <string>

#include "graph/block_graph.h"
#include "graph/estimate_table.h"

namespace hespas::report {

std::string ModuleStatistics(const graph::BlockGraph& blocks, const graph::EstimateTable& estimates);

}  // namespace hespas::report
