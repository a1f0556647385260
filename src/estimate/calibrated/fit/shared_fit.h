// Fits the shared constants of one family of ops to measured kernels of several devices.
//
// - The same robust objective as a device's own fit (fit.h); each measurement counts by its weight.
// - Constants stay within the ranges that physics leaves them; deterministic.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "estimate/calibrated/fit/fit.h"
#include "estimate/calibrated/model.h"

namespace hespas::estimate::calibrated {

struct WeightedKernel {
  KernelSpec kernel;
  double us = 0;
  double weight = 1;
};

struct DeviceKernels {
  hardware::Device device;
  std::vector<WeightedKernel> kernels;
};

// `start` with the constants of `family` ("gemm", "linear", "bmm", "elementwise", "rows", "convolution") refitted to
// the kernels of that family; unchanged where there are none.
Parameters FitShared(const Parameters& start, std::string_view family, std::span<const DeviceKernels> measured);

// All those families, in the order in which one needs another's constants.
Parameters FitAllShared(Parameters parameters, std::span<const DeviceKernels> measured);

struct DeviceCollectives {
  hardware::Device device;
  std::vector<MeasuredCollective> collectives;
};

// In the order of CollectiveOp.
inline constexpr std::string_view kSharedCollectives[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

// The same of collectives. Those of a direct mesh tell latencies and rates too, but its all-reduce is another algorithm
// than a switched domain's and stays out.
Parameters FitSharedCollectives(Parameters parameters, std::span<const DeviceCollectives> measured);

struct FittedConstant {
  std::string_view family;
  std::string_view name;
  double value = 0;
};
// What FitAllShared changes, and what FitSharedCollectives.
std::vector<FittedConstant> SharedConstants(const Parameters& parameters);
std::vector<FittedConstant> SharedCollectiveConstants(const Parameters& parameters);

}  // namespace hespas::estimate::calibrated
