#include "estimate/registry.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/suggest.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/native/with_fallback.h"
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

Made WithFallback(native::MadeModel model, const hardware::Device& device, const EstimatorOptions& options) {
  if (!model) return model.error();
  // A fallback costs everything, so it needs none itself.
  auto fallback = options.fallback == "roofline" ? MakeRoofline(device, {}) : MakeCalibrated(device, {});
  if (!fallback) return fallback;
  return Made(std::make_unique<native::WithFallback>(*std::move(model), *std::move(fallback)));
}

Made MakeSystolic(const hardware::Device& device, const EstimatorOptions& options) {
  return WithFallback(native::MakeSystolic(device), device, options);
}

Made MakeScaleSim(const hardware::Device& device, const EstimatorOptions& options) {
  return WithFallback(native::MakeScaleSim(device, native::DataflowOf(options.dataflow)), device, options);
}

Made MakeGenz(const hardware::Device& device, const EstimatorOptions& options) {
  return WithFallback(native::MakeGenz(device), device, options);
}

constexpr EstimatorEntry kEstimators[] = {
    {"roofline", "the longer of arithmetic at peak rate and traffic at full bandwidth, op by op", MakeRoofline},
    {"calibrated", "tiles, waves, caches and launches, with a few constants fitted on measured kernels",
     MakeCalibrated},
    {"systolic", "products by cycles of a weight-stationary array with memory phases (as COCOSSim)", MakeSystolic},
    {"scalesim", "products by cycles of an array without memory (as SCALE-Sim), --dataflow ws or os", MakeScaleSim},
    {"genz", "products by GenZ's operator formula", MakeGenz},
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
