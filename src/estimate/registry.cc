#include "estimate/registry.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/suggest.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"

namespace hespas::estimate {
namespace {

using Made = Result<std::unique_ptr<Estimator>>;

Made MakeRoofline(const hardware::Device& device, const EstimatorOptions& options) {
  if (options.compat) return Made(std::make_unique<PrototypeRoofline>(PrototypeRates::Of(device)));
  return Made(std::make_unique<Roofline>(device));
}

Made MakeCalibrated(const hardware::Device& device, const EstimatorOptions&) {
  const auto& parameters = calibrated::DefaultParameters();
  if (!parameters) return parameters.error();
  return Made(std::make_unique<calibrated::Calibrated>(device, *parameters));
}

constexpr EstimatorEntry kEstimators[] = {
    {"roofline", "the longer of arithmetic at peak rate and traffic at full bandwidth, op by op", MakeRoofline},
    {"calibrated", "tiles, waves, caches and launches, with a few constants fitted on measured kernels",
     MakeCalibrated},
};

}  // namespace

std::span<const EstimatorEntry> Estimators() { return kEstimators; }

Result<std::unique_ptr<Estimator>> MakeEstimator(std::string_view name, const hardware::Device& device,
                                                 const EstimatorOptions& options) {
  std::vector<std::string> names;
  for (const EstimatorEntry& entry : kEstimators) {
    if (entry.name == name) return entry.make(device, options);
    names.emplace_back(entry.name);
  }
  return MakeError(kUnknownEstimator, fmt::format("no estimator `{}`", name), {}, DidYouMean(name, names));
}

}  // namespace hespas::estimate
