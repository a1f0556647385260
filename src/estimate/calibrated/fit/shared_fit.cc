#include "estimate/calibrated/fit/shared_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/fit/minimise.h"
#include "estimate/calibrated/fit/ranges.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr int kEvaluations = 1500;

struct FitParameter {
  std::string_view family;
  std::string_view constant;
  double low;
  double high;
};

// A fit starts in the middle of each range (of logarithms), so that it knows nothing of an earlier fit. Not fitted are
// what physics or the library's design fixes: a lone kernel's launch, the lanes' peak, the board's own power; the
// energy of a flop is one constant, fitted on "linear" and taken over by "bmm".
constexpr FitParameter kKernelParameters[] = {
    {"linear", "tile_half", 4, 64},
    {"linear", "l2_bytes_per_clock", 16, 64},
    {"linear", "memory_fraction", 0.4, 1},
    {"linear", "pj_per_flop", 10, 20},
    {"linear", "long_contraction", 0.05, 1},
    {"linear", "long_extent", 8192, 262144},
    {"bmm", "tile_half", 4, 64},
    {"bmm", "l2_bytes_per_clock", 16, 128},
    {"bmm", "memory_fraction", 0.4, 1},
    {"elementwise", "launch_us", 2.5, 6},
    {"elementwise", "hbm_bytes_per_clock", 40, 640},
    {"elementwise", "gddr_fraction", 0.6, 0.95},
    {"elementwise", "l2_bytes_per_clock", 10, 90},
    {"rows", "softmax_start", 0.1, 0.5},
    {"rows", "softmax_full", 0.5, 2},
    {"rows", "softmax_reread", 0.25, 2},
    {"rows", "softmax_block", 0.005, 0.3},
    {"rows", "softmax_scalar", 0.05, 1},
    {"rows", "norm_start", 0.1, 0.5},
    {"rows", "norm_full", 0.5, 2},
    {"rows", "norm_reread", 0.2, 1.2},
    {"rows", "norm_step_clocks", 100, 1600},
    {"convolution", "sustained_fraction", 0.2, 2},
    {"convolution", "winograd_fraction", 0.2, 1.2},
    {"convolution", "transform_passes", 0.02, 4},
    {"convolution", "dispatches", 1, 16},
};

// Of matmuls on matrix units, whose values in the parameter file are the joint fit of H100 and MI300X.
constexpr FitParameter kMatmulParameters[] = {
    {"gemm", "launch_us", 2, 12},
    {"gemm", "sustained_fraction", 0.5, 1},
    {"gemm", "sm_fraction", 0.5, 2.5},
    {"gemm", "tile_half", 20, 300},
    {"gemm", "store_ratio", 0.5, 4},
    {"gemm", "memory_fraction", 0.6, 1},
    {"gemm", "l2_bytes_per_clock", 20, 120},
    {"gemm", "split_limit", 8, 200},
};

// Of every kind of collective.
constexpr FitParameter kCollectiveParameters[] = {
    {{}, "launch_us", 1, 40}, {{}, "hop_us", 0.2, 20}, {{}, "link_fraction", 0.5, 1.1}, {{}, "ramp", 0.1, 3}};

std::vector<FitParameter> FreeParametersOf(std::string_view family) {
  std::vector<FitParameter> free_parameters;
  for (const std::span<const FitParameter> all :
       {std::span<const FitParameter>(kKernelParameters), std::span<const FitParameter>(kMatmulParameters)}) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(free_parameters),
                 [&](const FitParameter& free_parameter) { return free_parameter.family == family; });
  }
  for (FitParameter free_parameter : kCollectiveParameters) {
    free_parameter.family = family;
    if (ParseCollective(family)) free_parameters.push_back(free_parameter);
  }
  return free_parameters;
}

Parameters With(const Parameters& start, const std::vector<FitParameter>& free_parameters,
                const std::vector<double>& values) {
  Parameters changed = start;
  for (size_t i = 0; i < free_parameters.size(); ++i) {
    *FindConstant(changed, free_parameters[i].family, free_parameters[i].constant) = values[i];
  }
  return changed;
}

struct Sample {
  const hardware::Device* device;
  std::vector<const WeightedKernel*> kernels;
};

std::vector<Sample> Choose(std::string_view family, std::span<const DeviceKernels> measured) {
  std::vector<Sample> samples;
  for (const DeviceKernels& device : measured) {
    const Machine machine = MakeMachine(device.device);
    Sample sample{.device = &device.device, .kernels = {}};
    for (const WeightedKernel& kernel : device.kernels) {
      if (FamilyOnMachine(kernel.kernel, machine) == family) sample.kernels.push_back(&kernel);
    }
    if (!sample.kernels.empty()) samples.push_back(std::move(sample));
  }
  return samples;
}

double MeanError(const std::vector<Sample>& samples, const Parameters& parameters) {
  double sum = 0;
  double weights = 0;
  for (const Sample& sample : samples) {
    const KernelModel model(*sample.device, parameters);
    for (const WeightedKernel* kernel : sample.kernels) {
      sum += kernel->weight * SmoothError(model.Time(kernel->kernel).us / kernel->us);
      weights += kernel->weight;
    }
  }
  return sum / weights;
}

// `start` with the constants of `family` at which `error` is least.
Parameters FitFamily(const Parameters& start, std::string_view family,
                     const std::function<double(const Parameters&)>& error) {
  const std::vector<FitParameter> free_parameters = FreeParametersOf(family);
  if (free_parameters.empty() || !HasOptimiser()) return start;
  std::vector<Range> ranges;
  ranges.reserve(free_parameters.size());
  for (const FitParameter& free_parameter : free_parameters) {
    ranges.push_back({.low = free_parameter.low, .high = free_parameter.high});
  }
  const auto error_at = [&](const std::vector<double>& values) { return error(With(start, free_parameters, values)); };
  return With(start, free_parameters, LeastError(ranges, error_at, kEvaluations));
}

// Relative to what was measured: what disturbs a collective only adds to its time, and what a device has in common
// with others is the rest. Devices count alike, however many of their collectives were measured.
double MeanError(CollectiveOp op, std::span<const DeviceCollectives> measured, const Parameters& parameters) {
  double sum = 0;
  for (const DeviceCollectives& device : measured) {
    const CollectiveModel model(device.device, parameters);
    double own = 0;
    double count = 0;
    for (const MeasuredCollective& each : device.collectives) {
      if (each.collective.op != op) continue;
      own += std::abs(model.Time(each.collective).us / each.us - 1);
      ++count;
    }
    sum += count > 0 ? own / count : 0;
  }
  return sum / static_cast<double>(measured.size());
}

}  // namespace

Parameters FitShared(const Parameters& start, std::string_view family, std::span<const DeviceKernels> measured) {
  const std::vector<Sample> samples = Choose(family, measured);
  if (samples.empty()) return start;
  return FitFamily(start, family, [&](const Parameters& parameters) { return MeanError(samples, parameters); });
}

Parameters FitAllShared(Parameters parameters, std::span<const DeviceKernels> measured) {
  for (const std::string_view family : {"linear", "bmm", "elementwise", "rows", "convolution"}) {
    parameters.batched.pj_per_flop = parameters.linear.pj_per_flop;
    parameters = FitShared(parameters, family, measured);
  }
  return parameters;
}

Parameters FitSharedCollectives(Parameters parameters, std::span<const DeviceCollectives> measured) {
  std::vector<DeviceCollectives> switched;
  std::copy_if(measured.begin(), measured.end(), std::back_inserter(switched), [](const DeviceCollectives& device) {
    return device.device.interconnect && device.device.interconnect->topology == "switch";
  });
  for (const std::string_view family : kSharedCollectives) {
    const CollectiveOp op = *ParseCollective(family);
    const auto used = op == CollectiveOp::kAllReduce ? std::span<const DeviceCollectives>(switched) : measured;
    if (used.empty()) continue;
    parameters = FitFamily(parameters, family, [&](const Parameters& changed) { return MeanError(op, used, changed); });
  }
  return parameters;
}

std::vector<FittedConstant> SharedCollectiveConstants(const Parameters& parameters) {
  Parameters copy = parameters;
  std::vector<FittedConstant> constants;
  for (const std::string_view family : kSharedCollectives) {
    for (const FitParameter& free_parameter : kCollectiveParameters) {
      constants.push_back({family, free_parameter.constant, *FindConstant(copy, family, free_parameter.constant)});
    }
  }
  return constants;
}

std::vector<FittedConstant> SharedConstants(const Parameters& parameters) {
  Parameters copy = parameters;
  std::vector<FittedConstant> constants{{"bmm", "pj_per_flop", copy.batched.pj_per_flop}};
  for (const FitParameter& free_parameter : kKernelParameters) {
    constants.push_back({free_parameter.family, free_parameter.constant,
                         *FindConstant(copy, free_parameter.family, free_parameter.constant)});
  }
  return constants;
}

}  // namespace hespas::estimate::calibrated
