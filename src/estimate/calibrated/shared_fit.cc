#include "estimate/calibrated/shared_fit.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr double kSmoothing = 0.01;  // relative errors below this count quadratically
constexpr double kPull = 1e-4;       // towards the middle, per squared e-fold: decides where the data says nothing
constexpr int kEvaluations = 1500;

struct Knob {
  std::string_view family;
  std::string_view constant;
  double low;
  double high;
};

// A fit starts in the middle of each range (of logarithms), so that it knows nothing of an earlier fit. Not fitted are
// what physics or the library's design fixes: a lone kernel's launch, the lanes' peak, the board's own power; the
// energy of a flop is one constant, fitted on "linear" and taken over by "bmm".
constexpr Knob kKnobs[] = {
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
    {"elementwise", "hbm_fraction", 0.75, 1},
    {"elementwise", "gddr_fraction", 0.6, 0.95},
    {"elementwise", "l2_bytes_per_clock", 10, 90},
    {"rows", "softmax_full", 0.25, 4},
    {"rows", "softmax_reread", 0.25, 2},
    {"rows", "softmax_block", 0.005, 0.2},
    {"rows", "norm_start", 0.1, 1},
    {"rows", "norm_full", 0.7, 3},
    {"rows", "norm_reread", 0.2, 1.2},
    {"convolution", "sustained_fraction", 0.2, 2},
    {"convolution", "winograd_fraction", 0.2, 1.2},
    {"convolution", "transform_passes", 0.02, 4},
    {"convolution", "dispatches", 1, 16},
};

std::vector<Knob> KnobsOf(std::string_view family) {
  std::vector<Knob> knobs;
  std::copy_if(std::begin(kKnobs), std::end(kKnobs), std::back_inserter(knobs),
               [&](const Knob& knob) { return knob.family == family; });
  return knobs;
}

Parameters With(const Parameters& start, const std::vector<Knob>& knobs, const std::vector<double>& logs) {
  Parameters changed = start;
  for (size_t i = 0; i < knobs.size(); ++i) {
    *FindConstant(changed, knobs[i].family, knobs[i].constant) = std::exp(logs[i]);
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
      sum += kernel->weight * std::hypot(std::log(model.Time(kernel->kernel).us / kernel->us), kSmoothing);
      weights += kernel->weight;
    }
  }
  return sum / weights;
}

}  // namespace

Parameters FitShared(const Parameters& start, std::string_view family, std::span<const DeviceKernels> measured) {
  const std::vector<Knob> knobs = KnobsOf(family);
  const std::vector<Sample> samples = Choose(family, measured);
  if (knobs.empty() || samples.empty() || !HasOptimiser()) return start;
  Box box;
  std::vector<double> middle;
  for (const Knob& knob : knobs) {
    box.low.push_back(std::log(knob.low));
    box.high.push_back(std::log(knob.high));
    middle.push_back((box.low.back() + box.high.back()) / 2);
  }
  const auto objective = [&](const std::vector<double>& logs) {
    double pull = 0;
    for (size_t i = 0; i < logs.size(); ++i) pull += std::pow(logs[i] - middle[i], 2);
    return MeanError(samples, With(start, knobs, logs)) + kPull * pull;
  };
  return With(start, knobs, Minimise(objective, box, middle, kEvaluations).at);
}

Parameters FitAllShared(Parameters parameters, std::span<const DeviceKernels> measured) {
  for (const std::string_view family : {"linear", "bmm", "elementwise", "rows", "convolution"}) {
    parameters.batched.pj_per_flop = parameters.linear.pj_per_flop;
    parameters = FitShared(parameters, family, measured);
  }
  return parameters;
}

std::vector<FittedConstant> SharedConstants(const Parameters& parameters) {
  Parameters copy = parameters;
  std::vector<FittedConstant> constants{{"bmm", "pj_per_flop", copy.batched.pj_per_flop}};
  for (const Knob& knob : kKnobs) {
    constants.push_back({knob.family, knob.constant, *FindConstant(copy, knob.family, knob.constant)});
  }
  return constants;
}

}  // namespace hespas::estimate::calibrated
