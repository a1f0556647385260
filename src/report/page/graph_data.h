// The dependency graph of all blocks, as columns for report.html.
#pragma once

#include <string>

#include "report/page/columns.h"
#include "report/step/step_view.h"

namespace hespas::report {

// One JSON object:
// - `op`: of each block, a number that grows in program order; equal numbers are executions of one op (iterations of a
// loop).
// - `from`: of each block, the number of its predecessors, then how many blocks each lies before it.
// - `other`: blocks without a cost of their own (collectives, mostly), as columns `id`, `name`, `layer`, `line`.
std::string GraphData(const StepView& step, Strings& strings);

}  // namespace hespas::report
