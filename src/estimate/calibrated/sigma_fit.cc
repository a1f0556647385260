#include "estimate/calibrated/sigma_fit.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr double kLeastSigma = 1e-6;
constexpr double kDegrees = 4;      // of freedom: errors have a few far ones
constexpr double kQuantile = 1.24;  // scales of Student's t that hold 72 % of it; two of them hold 93 %
constexpr double kTail = 1.52;      // sigmas that hold nine tenths of a normal distribution whose 72 % one sigma holds
constexpr double kSpread = 1;       // e-fold that a scale may be away from the stated one, where residuals say nothing
constexpr double kWidest = 5;       // e-folds

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

// Nine tenths of the errors are at most so many scaled sigmas.
double Tail(const std::vector<Residual>& residuals, const SigmaParts& scales) {
  std::vector<double> sigmas;
  for (const Residual& residual : residuals) sigmas.push_back(residual.error / std::sqrt(Variance(residual, scales)));
  const auto place = static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(sigmas.size()));
  std::nth_element(sigmas.begin(), sigmas.begin() + place, sigmas.end());
  return sigmas[static_cast<size_t>(place)];
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
  const auto objective = [&](const std::vector<double>& logs) {
    double far = 0;
    for (const double log : logs) far += log * log;
    const SigmaParts scales = Scales(logs);
    return (Unlikelihood(seen, scales) + Unlikelihood(unseen, scales)) / 2 + far / (2 * kSpread * kSpread * count);
  };
  SigmaParts scales = Scales(Minimise(objective, box, std::vector<double>(kParts, 0)).at);
  for (double& scale : scales) scale *= kQuantile;
  const double tail = std::sqrt(Tail(seen, scales) * Tail(unseen, scales)) / kTail;
  for (double& scale : scales) scale *= std::max(1.0, tail);
  return scales;
}

}  // namespace hespas::estimate::calibrated
