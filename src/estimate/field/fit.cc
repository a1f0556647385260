#include "estimate/field/fit.h"

#include <algorithm>
#include <random>

#include "estimate/calibrated/fit/minimise.h"
#include "estimate/calibrated/fit/ranges.h"
#include "estimate/field/noise.h"

namespace hespas::estimate::field {
namespace {

constexpr size_t kDrawn = 1000;  // calls of a device and family
constexpr int kEvaluations = 600;
constexpr double kFarthest = 3;  // a constant may become this many times larger or smaller

struct Sample {
  Chip chip;
  std::vector<const MeasuredCall*> calls;
  std::vector<double> weights;
};

std::vector<const MeasuredCall*> Drawn(std::string_view family, const std::vector<MeasuredCall>& measured) {
  std::vector<const MeasuredCall*> calls;
  for (const MeasuredCall& call : measured) {
    if (FamilyOf(call.call) == family) calls.push_back(&call);
  }
  std::mt19937 random(1);
  const size_t count = std::min(kDrawn, calls.size());
  for (size_t i = 0; i < count; ++i) std::swap(calls[i], calls[i + random() % (calls.size() - i)]);
  calls.resize(count);
  return calls;
}

std::vector<Sample> Choose(const Constants& constants, std::string_view family, std::span<const DeviceCalls> measured) {
  std::vector<Sample> samples;
  for (const DeviceCalls& device : measured) {
    Sample sample{.chip = MakeChip(device.device), .calls = Drawn(family, device.calls), .weights = {}};
    for (const MeasuredCall* call : sample.calls) {
      sample.weights.push_back(1 / NoiseOf(sample.chip, constants, call->call, call->us));
    }
    if (!sample.calls.empty()) samples.push_back(std::move(sample));
  }
  return samples;
}

double MeanError(const std::vector<Sample>& samples, const Constants& constants) {
  double sum = 0;
  double weights = 0;
  for (const Sample& sample : samples) {
    for (size_t i = 0; i < sample.calls.size(); ++i) {
      const MeasuredCall& call = *sample.calls[i];
      sum += sample.weights[i] * calibrated::SmoothError(UsOf(sample.chip, constants, call.call) / call.us);
      weights += sample.weights[i];
    }
  }
  return sum / weights;
}

// The rate of memory and of a matrix unit are the datasheet's at most.
bool IsFraction(std::string_view name) { return name == "memory_fraction" || name == "matrix_fraction"; }

Constants With(const Constants& start, std::string_view family, const std::vector<double>& values) {
  Constants changed = start;
  const auto named = FittedConstantsOf(changed, family);
  for (size_t i = 0; i < named.size(); ++i) *named[i].value = values[i];
  return changed;
}

}  // namespace

double UsOf(const Chip& chip, const Constants& constants, const Call& call) {
  return std::visit([&](const auto& each) { return TimeOf(chip, constants, each).us; }, call);
}

std::vector<NamedConstant> FittedConstantsOf(Constants& constants, std::string_view family) {
  auto named = ConstantsOf(constants, family);
  std::erase_if(named, [](const NamedConstant& constant) {
    return constant.name == "sigma" || constant.name == "graph_start_us";
  });
  return named;
}

bool HasFamily(std::string_view family, std::span<const DeviceCalls> measured) {
  return std::any_of(measured.begin(), measured.end(), [&](const DeviceCalls& device) {
    return std::any_of(device.calls.begin(), device.calls.end(),
                       [&](const MeasuredCall& call) { return FamilyOf(call.call) == family; });
  });
}

Constants FitFamily(const Constants& start, std::string_view family, std::span<const DeviceCalls> measured) {
  const std::vector<Sample> samples = Choose(start, family, measured);
  if (samples.empty() || !calibrated::HasOptimiser()) return start;
  Constants copy = start;
  std::vector<calibrated::Range> ranges;
  for (const NamedConstant& constant : FittedConstantsOf(copy, family)) {
    const double high = *constant.value * kFarthest;
    ranges.push_back({.low = *constant.value / kFarthest,
                      .high = IsFraction(constant.name) ? std::max(1.0, *constant.value) : high,
                      .start = *constant.value});
  }
  const auto error = [&](const std::vector<double>& values) { return MeanError(samples, With(start, family, values)); };
  return With(start, family, calibrated::LeastError(ranges, error, kEvaluations));
}

}  // namespace hespas::estimate::field
