// How much of the device's peak a step uses: datasheet rates, whatever model estimated the times.
//
// - The one place where MFU and HFU are worked out (docs/reports.md): `run`, `compare`, sweeps and Python read them off
//   the RunResult.
// - At most 100 %: no estimate is shorter than its arithmetic at these rates.
#pragma once

#include <vector>

#include "driver/stages/estimate.h"
#include "estimate/arithmetic.h"
#include "result/run_result.h"

namespace hespas::driver {

// The arithmetic of all blocks, one entry for each rate.
std::vector<estimate::Arithmetic> StepArithmetic(const Prepared& prepared, const graph::EstimateTable& table);

// Seconds that the memory is busy at its peak bandwidth. What a kernel reads faster than that comes from a cache: no
// kernel keeps the memory busy for longer than it runs.
double TrafficSeconds(const hardware::Device& device, const graph::BlockGraph& blocks,
                      const graph::EstimateTable& table);

// What a step asks of the device.
struct StepLoad {
  const std::vector<estimate::Arithmetic>& arithmetic;
  const std::optional<ModelWork>& model;  // absent: the program does not tell what it recomputes, and MFU is unknown
  double traffic_seconds = 0;
};

// Fills the utilisations from the step's time.
void FillUtilisation(const hardware::Device& device, const StepLoad& load, result::RunResult& out);

}  // namespace hespas::driver
