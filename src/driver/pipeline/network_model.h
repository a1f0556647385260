// Times of collectives by the calibrated model on a system's dimensions.
//
// - The innermost dimension has the device's own constants, its switch's reductions and its mesh's links; outer ones
//   the shared constants on their bandwidth, with what the inner one leaves to move.
#pragma once

#include "driver/pipeline/run.h"
#include "result/sim_result.h"
#include "simulate/collective/analytical.h"

namespace hespas::driver {

// Whether a run's collectives follow the calibrated model: asked for, or `auto` with the calibrated estimator.
bool UsesCalibratedNetwork(const RunOptions& options);

// What one simulation can leave to the next of the same traces with other durations.
struct SimulationReuse {
  const simulate::AnalyticalPlan* plan = nullptr;
  bool record_nodes = true;  // SimResult::intervals, for who looks closer than at ranks
};

// The network stage of one program's step, by the model that the options ask for.
std::optional<result::SimResult> SimulateStep(const RunOptions& options, const hardware::Device& device,
                                              const trace::TraceGraph& traces, const hardware::System& system,
                                              Diagnostics& diagnostics, const SimulationReuse& reuse = {});

}  // namespace hespas::driver
