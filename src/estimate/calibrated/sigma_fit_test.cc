#include "estimate/calibrated/sigma_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace hespas::estimate::calibrated {
namespace {

std::vector<Residual> Normal(unsigned seed, size_t count, SigmaParts truth, SigmaParts stated) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Residual> residuals;
  for (size_t i = 0; i < count; ++i) {
    residuals.push_back({.error = std::abs(normal(random)) * std::hypot(truth[0], truth[1]), .sigma = stated});
  }
  return residuals;
}

TEST(SigmaFit, ScalesToTheErrors) {
  const auto residuals = Normal(1, 5000, {0.06, 0}, {0.03, 0});
  EXPECT_NEAR(SigmaScales(residuals, residuals)[0], 2, 0.35);
}

TEST(SigmaFit, PartsScaleApart) {
  auto residuals = Normal(1, 2000, {0.02, 0}, {0.1, 0});
  const auto latency = Normal(2, 2000, {0, 0.8}, {0, 0.4});
  residuals.insert(residuals.end(), latency.begin(), latency.end());
  const SigmaParts scales = SigmaScales(residuals, residuals);
  EXPECT_NEAR(scales[0], 0.2, 0.04);
  EXPECT_NEAR(scales[1], 2, 0.4);
}

TEST(SigmaFit, SeenAndUnseenErrorsCountAlike) {
  const auto seen = Normal(3, 5000, {0.04, 0}, {0.04, 0});
  const auto unseen = Normal(3, 5000, {0.16, 0}, {0.04, 0});
  EXPECT_NEAR(SigmaScales(seen, unseen)[0] / SigmaScales(seen, seen)[0], 2, 1e-9);
}

TEST(SigmaFit, AFewFarErrorsWidenIt) {
  auto residuals = Normal(4, 80, {0.05, 0}, {0.05, 0});
  const double before = SigmaScales(residuals, residuals)[0];
  for (int i = 0; i < 16; ++i) residuals.push_back({.error = 0.5, .sigma = {0.05, 0}});
  EXPECT_GT(SigmaScales(residuals, residuals)[0], 2 * before);
}

}  // namespace
}  // namespace hespas::estimate::calibrated
