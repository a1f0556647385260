#include "estimate/calibrated/fit/sigma_fit.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/fit/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr double kLeastSigma = 1e-6;
constexpr double kDegrees = 30;     // of freedom: all but normal, so that far errors widen what is stated
constexpr double kQuantile = 1.08;  // scales of Student's t that hold 71 % of it; two of them hold 96 %
// E-folds that a scale may be away from the stated one, where residuals say nothing: of a sigma of one part, and of
// several, each of which few residuals tell.
constexpr double kSpread = 1;
constexpr double kSpreadOfParts = 1.5;
constexpr double kWidest = 5;  // e-folds

double Variance(const Residual& residual, const SigmaParts& scales) {
  double variance = kLeastSigma * kLeastSigma;
  for (size_t part = 0; part < scales.size(); ++part) variance += std::pow(residual.sigma[part] * scales[part], 2);
  return variance;
}

// Mean minus logarithm of the density that Student's t of the scaled sigmas gives the errors.
double Unlikelihood(const std::vector<Residual>& residuals, const SigmaParts& scales) {
  double sum = 0;
  for (const Residual& residual : residuals) {
    const double variance = Variance(residual, scales);
    sum += 0.5 * std::log(variance) +
           (kDegrees + 1) / 2 * std::log1p(residual.error * residual.error / (kDegrees * variance));
  }
  return sum / static_cast<double>(residuals.size());
}

SigmaParts Scales(const std::vector<double>& logs) {
  SigmaParts scales;
  for (size_t part = 0; part < scales.size(); ++part) scales[part] = std::exp(logs[part]);
  return scales;
}

}  // namespace

SigmaParts SigmaScales(const std::vector<Residual>& seen, const std::vector<Residual>& unseen) {
  constexpr size_t kParts = std::tuple_size_v<SigmaParts>;
  const Box box{.low = std::vector<double>(kParts, -kWidest), .high = std::vector<double>(kParts, kWidest)};
  const auto count = static_cast<double>(std::min(seen.size(), unseen.size()));
  const bool several = std::any_of(seen.begin(), seen.end(), [](const Residual& residual) {
    return std::count_if(residual.sigma.begin(), residual.sigma.end(), [](double sigma) { return sigma > 0; }) > 1;
  });
  const double spread = several ? kSpreadOfParts : kSpread;
  const auto objective = [&](const std::vector<double>& logs) {
    double far = 0;
    for (const double log : logs) far += log * log;
    const SigmaParts scales = Scales(logs);
    return (Unlikelihood(seen, scales) + Unlikelihood(unseen, scales)) / 2 + far / (2 * spread * spread * count);
  };
  SigmaParts scales = Scales(Minimise(objective, box, std::vector<double>(kParts, 0)).at);
  for (double& scale : scales) scale *= kQuantile;
  return scales;
}

}  // namespace hespas::estimate::calibrated
