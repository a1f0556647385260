#include "estimate/calibrated/fit/sigma_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "estimate/calibrated/fit/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

std::vector<Residual> Normal(unsigned seed, size_t count, double truth, SigmaParts stated) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Residual> residuals;
  for (size_t i = 0; i < count; ++i) {
    residuals.push_back({.error = std::abs(normal(random)) * truth, .sigma = stated});
  }
  return residuals;
}

double Covered(const std::vector<Residual>& residuals, double sigma) {
  size_t within = 0;
  for (const Residual& residual : residuals) within += residual.error <= sigma ? 1 : 0;
  return static_cast<double>(within) / static_cast<double>(residuals.size());
}

class SigmaFit : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  }
};

TEST_F(SigmaFit, TwoThirdsToThreeQuartersFallWithinOne) {
  const auto residuals = Normal(1, 5000, 0.06, {0.03, 0, 0});
  const double sigma = 0.03 * SigmaScales(residuals, residuals)[0];
  EXPECT_GE(Covered(residuals, sigma), 0.66);
  EXPECT_LE(Covered(residuals, sigma), 0.75);
}

TEST_F(SigmaFit, NineTenthsFallWithinTwo) {
  std::mt19937 random(1);
  std::student_t_distribution<double> far(3);
  std::vector<Residual> residuals;
  for (int i = 0; i < 5000; ++i) residuals.push_back({.error = std::abs(0.05 * far(random)), .sigma = {0.03, 0, 0}});
  const double sigma = 0.03 * SigmaScales(residuals, residuals)[0];
  EXPECT_GE(Covered(residuals, 2 * sigma), 0.9);
  EXPECT_LE(Covered(residuals, sigma), 0.8);
}

TEST_F(SigmaFit, PartsScaleApart) {
  auto residuals = Normal(1, 2000, 0.02, {0.1, 0.001, 0});
  const auto latency = Normal(2, 2000, 0.8, {0.001, 0.4, 0});
  residuals.insert(residuals.end(), latency.begin(), latency.end());
  const SigmaParts scales = SigmaScales(residuals, residuals);
  EXPECT_NEAR(scales[0], 0.2, 0.04);
  EXPECT_NEAR(scales[1], 2, 0.4);
}

TEST_F(SigmaFit, OfAPartWithoutErrorsTheStatedSigmaStays) {
  const auto residuals = Normal(1, 2000, 0.06, {0.06, 0, 0});
  const SigmaParts scales = SigmaScales(residuals, residuals);
  EXPECT_NEAR(scales[1] / scales[2], 1, 1e-3);
  EXPECT_NEAR(scales[1] / scales[0], 1, 0.3);
}

TEST_F(SigmaFit, SeenAndUnseenErrorsCountAlike) {
  const auto seen = Normal(3, 5000, 0.04, {0.04, 0, 0});
  const auto unseen = Normal(4, 5000, 0.16, {0.04, 0, 0});
  EXPECT_NEAR(SigmaScales(seen, unseen)[0] / SigmaScales(unseen, seen)[0], 1, 1e-3);
  const double mean_square = (1 + 4 * 4) / 2.0;
  EXPECT_NEAR(SigmaScales(seen, unseen)[0] / SigmaScales(seen, seen)[0], std::sqrt(mean_square), 0.3);
}

TEST_F(SigmaFit, FarErrorsWidenItLessThanTheirSquaresWould) {
  constexpr double kFar = 10;
  auto residuals = Normal(4, 80, 0.05, {0.05, 0, 0});
  const double before = SigmaScales(residuals, residuals)[0];
  for (int i = 0; i < 4; ++i) residuals.push_back({.error = kFar * 0.05, .sigma = {0.05, 0, 0}});
  const double after = SigmaScales(residuals, residuals)[0];
  EXPECT_GT(after, 1.5 * before);
  EXPECT_LT(after, std::sqrt((80 + 4 * kFar * kFar) / 84) * before);
}

}  // namespace
}  // namespace hespas::estimate::calibrated
