// Power from utilisation: idle, and between idle and TDP by how busy arithmetic, memory and links are.
//
// - Of one device; nothing where the device file has no TDP. The Python prototype's own formula (no idle power, no
//   links) stays in compat/statistics.
#pragma once

#include <optional>

#include "graph/estimate.h"
#include "graph/estimate_table.h"
#include "hardware/device.h"
#include "report/timeline/power_points.h"
#include "result/run_result.h"

namespace hespas::driver {

struct Power {
  double idle_w = 0;
  double range_w = 0;  // TDP without idle
  double memory_share = 0;
  double link_share = 0;
};

std::optional<Power> PowerOf(const hardware::Device& device);

// Of a block or op while it runs, idle power included; J.
double EnergyOf(const Power& power, const graph::Estimate& estimate);

// The same as power over time, for a timeline.
std::optional<report::PowerFigures> PowerFiguresOf(const hardware::Device& device, const graph::EstimateTable& table);

// Of the step: the blocks' energy, links while they move bytes, idle power for the rest of the time.
double StepEnergy(const Power& power, double compute_j, const result::RunResult& result);

}  // namespace hespas::driver
