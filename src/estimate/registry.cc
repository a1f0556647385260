#include "estimate/registry.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/suggest.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"

namespace hespas::estimate {
namespace {

std::unique_ptr<Estimator> MakeRoofline(const hardware::Device& device, const EstimatorOptions& options) {
  if (options.compat) return std::make_unique<PrototypeRoofline>(PrototypeRates::Of(device));
  return std::make_unique<Roofline>(device);
}

constexpr EstimatorEntry kEstimators[] = {
    {"roofline", "the longer of arithmetic at peak rate and traffic at full bandwidth, op by op", MakeRoofline},
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
