// Work by kind of operation: what single ops of the distinct blocks cost, summed up by name.
#pragma once

#include <functional>
#include <vector>

#include "driver/stages/estimate.h"
#include "estimate/cache/sqlite_cache.h"
#include "estimate/estimator.h"
#include "graph/estimate_table.h"
#include "result/run_result.h"

namespace hespas::driver {

// Calls `visit(row, block, op, estimate)` for each op of each distinct block: `row` counts names of ops in the order in
// which they come, `block` distinct blocks. `cost(block, op)` is the model of single ops; what was measured as a block
// is shared out among its ops in the model's proportions.
void ForEachOp(const Prepared& prepared, const graph::EstimateTable& table,
               const std::function<graph::Estimate(size_t, ir::OpId)>& cost,
               const std::function<void(size_t, size_t, ir::OpId, const graph::Estimate&)>& visit);

// Fills the ops, their times and those without a known cost from the table; each distinct block is looked at once.
void SummariseOps(const Prepared& prepared, const estimate::Estimator& estimator, estimate::EstimateCache* cache,
                  Estimated& estimated);

// By time, costliest first; equal ones as they came.
void SortByTime(std::vector<result::OpSummary>& ops);

}  // namespace hespas::driver
