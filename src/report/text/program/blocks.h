// Blocks and operations as tables.
#pragma once

#include <string>
#include <vector>

#include "graph/block_graph.h"
#include "report/text/table.h"
#include "result/run_result.h"

namespace hespas::report {

Table BlockTable(const graph::BlockGraph& blocks);

// `human`: units chosen per cell and a line of totals; else seconds and plain counts.
Table OpTable(const std::vector<result::OpSummary>& ops, bool human);

}  // namespace hespas::report
