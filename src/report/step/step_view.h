// StepView: all that is known about one step, for the outputs that explain it.
#pragma once

#include <vector>

#include "graph/block_graph.h"
#include "graph/estimate_table.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::report {

struct StepView {
  const graph::BlockGraph& blocks;
  const graph::EstimateTable& estimates;
  const std::vector<std::vector<Time>>& op_times;  // of each distinct block, by op
  const trace::TraceGraph& traces;
  const result::SimResult* simulated = nullptr;  // absent: no network, every device computes and does nothing else
  Time step_time;
};

}  // namespace hespas::report
