// Sums the account of a step by kind of operation, by layer and by what bounds it.
#pragma once

#include "report/step/account.h"
#include "result/breakdown.h"

namespace hespas::report {

result::Breakdown MakeBreakdown(const StepView& step, const Account& account);

// `time` cut into parts in proportion to `weights` (equal ones where all are 0); the parts add up to `time`.
std::vector<Time> Divide(Time time, const std::vector<Time>& weights);

// The part of an estimate's time that starting kernels takes, and what bounds the rest.
Time LaunchPart(const graph::Estimate& estimate);
graph::Bound BoundOfRest(const graph::Estimate& estimate);

}  // namespace hespas::report
