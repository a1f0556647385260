#include "estimate/calibrated/sigma_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hespas::estimate::calibrated {
namespace {

constexpr double kLeastSigma = 1e-6;
constexpr double kTail = 1.7;        // sigmas of the nine tenths: the tail of a few is shorter than that of many
constexpr double kAllowance = 1.08;  // for what two dozen errors leave open of their own scale
constexpr size_t kFewest = 5;

// Errors in stated sigmas, smallest first.
std::vector<double> Sigmas(const std::vector<Residual>& residuals) {
  std::vector<double> sigmas;
  for (const Residual& residual : residuals) {
    sigmas.push_back(residual.error / std::max(kLeastSigma, std::hypot(residual.sigma[0], residual.sigma[1])));
  }
  std::sort(sigmas.begin(), sigmas.end());
  return sigmas;
}

double At(const std::vector<double>& sorted, double share) {
  const auto place = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return std::max(kLeastSigma, sorted[std::min(sorted.size() - 1, place)]);
}

double Typical(const std::vector<Residual>& residuals) { return At(Sigmas(residuals), 2.0 / 3); }

double WithTail(const std::vector<Residual>& residuals) {
  const std::vector<double> sigmas = Sigmas(residuals);
  return std::max(At(sigmas, 2.0 / 3), At(sigmas, 0.9) / kTail);
}

std::vector<Residual> MostlyOf(size_t part, const std::vector<Residual>& residuals) {
  std::vector<Residual> chosen;
  std::copy_if(residuals.begin(), residuals.end(), std::back_inserter(chosen),
               [part](const Residual& residual) { return residual.sigma[part] > residual.sigma[1 - part]; });
  return chosen;
}

std::vector<Residual> Scaled(std::vector<Residual> residuals, const SigmaParts& scales) {
  for (Residual& residual : residuals) {
    for (size_t part = 0; part < scales.size(); ++part) residual.sigma[part] *= scales[part];
  }
  return residuals;
}

}  // namespace

SigmaParts SigmaScales(const std::vector<Residual>& seen, const std::vector<Residual>& unseen) {
  SigmaParts scales;
  for (size_t part = 0; part < scales.size(); ++part) {
    const auto own_seen = MostlyOf(part, seen);
    const auto own_unseen = MostlyOf(part, unseen);
    const bool enough = std::min(own_seen.size(), own_unseen.size()) >= kFewest;
    scales[part] = std::sqrt(Typical(enough ? own_seen : seen) * Typical(enough ? own_unseen : unseen));
  }
  // A part's few errors say little of their tail: that is all errors' together.
  const double common = kAllowance * std::sqrt(WithTail(Scaled(seen, scales)) * WithTail(Scaled(unseen, scales)));
  for (double& scale : scales) scale *= common;
  return scales;
}

}  // namespace hespas::estimate::calibrated
