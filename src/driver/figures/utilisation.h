// How much of the device's peak a step uses: datasheet rates, whatever model estimated the times.
//
// - The one place where MFU and HFU are worked out (docs/reports.md): `run`, `compare`, sweeps and Python read them off
//   the RunResult.
// - At most 100 %: no estimate is shorter than its arithmetic at these rates.
#pragma once

#include "driver/stages/estimate.h"
#include "result/run_result.h"

namespace hespas::driver {

// Seconds that a step asks of the device at its peak.
struct StepLoad {
  double arithmetic = 0;    // all operations at the rates of their types, loops and branches included
  double contractions = 0;  // of it matmuls and convolutions
  // All bytes at the memory's bandwidth. What a kernel reads faster than that comes from a cache: no kernel keeps the
  // memory busy for longer than it runs.
  double traffic = 0;
};
StepLoad LoadOf(const Prepared& prepared, const graph::EstimateTable& table, const hardware::Device& device);

// Fills the utilisations from the step's time. Without `model` the program does not tell what it recomputes, and MFU
// stays unknown.
void FillUtilisation(const hardware::Device& device, const StepLoad& load, const std::optional<ModelWork>& model,
                     result::RunResult& out);

}  // namespace hespas::driver
