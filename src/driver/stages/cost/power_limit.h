// The clock that a device keeps under its power limit, and estimates at that clock.
//
// Matmuls one after the other draw more at boost clock than a board may: the clock falls until the mean power of the
// step is within the limit. Power goes as the square of the clock, as voltage falls with it, and time as its inverse.
#pragma once

#include <memory>
#include <optional>

#include "estimate/estimator.h"
#include "graph/estimate_table.h"
#include "hardware/device.h"

namespace hespas::driver {

// Of the power limit, that kernels without matmuls draw: memory at full rate, and the idle board.
inline constexpr double kOtherShare = 0.4;
// What matrix units draw at full rate, over the limit; nothing where too little is known of the device.
std::optional<double> MatrixPower(const hardware::Device& device);

// Of the boost clock; 1 where power does not limit it, or too little is known of the device.
double ClockUnderPowerLimit(const hardware::Device& device, const graph::BlockGraph& graph,
                            const graph::EstimateTable& table);

// The same with the matrix units' share of the time at that clock.
graph::Estimate AtClock(const hardware::Device& device, double clock, graph::Estimate estimate);

// Estimates as `base`, at that clock; both have to outlive it.
std::unique_ptr<estimate::Estimator> EstimatorAtClock(const estimate::Estimator& base, const hardware::Device& device,
                                                      double clock);

}  // namespace hespas::driver
