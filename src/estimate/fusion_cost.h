// Work of a fusion: all its operations, but only the bytes at its boundary.
//
// - A parameter that is only sliced or gathered from is read where it is touched.
// - A parameter that is updated in place and returned costs the update, as operand and as result.
#pragma once

#include <vector>

#include "estimate/cost.h"
#include "ir/module.h"

namespace hespas::estimate {

// The ops of a fusion's body and of fusions within it, in program order; bodies of reductions are not entered.
std::vector<ir::OpId> FusedOps(const ir::Module& module, ir::OpId fusion);

// The body of a fusion, held as a region or called by symbol; invalid where there is none.
ir::BlockId FusionBody(const ir::Module& module, ir::OpId fusion);

OpCost FusionCost(const ir::Module& module, ir::OpId fusion);

}  // namespace hespas::estimate
