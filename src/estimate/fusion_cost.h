// Work of a fusion: all its operations, but only the bytes at its boundary.
//
// - A parameter that is only sliced or gathered from is read where it is touched.
// - A parameter that is updated in place and returned costs the update, as operand and as result.
#pragma once

#include "estimate/cost.h"
#include "ir/facts/fusion.h"
#include "ir/module.h"

namespace hespas::estimate {

OpCost FusionCost(const ir::Module& module, ir::OpId fusion);

// The value that ops of the fusion which only rename it (bitcast, reshape, copy) were given.
ir::ValueId Origin(const ir::Module& module, ir::ValueId value);

}  // namespace hespas::estimate
