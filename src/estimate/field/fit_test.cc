#include "estimate/field/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "estimate/calibrated/fit/minimise.h"
#include "estimate/field/noise.h"
#include "hardware/presets.h"

namespace hespas::estimate::field {
namespace {

hardware::Device Preset(const char* name) {
  Diagnostics diagnostics;
  return *hardware::LoadDevice(name, diagnostics);
}

// Matmuls from launch-bound to compute-bound, as `truth` has them.
DeviceCalls Measured(const char* name, const Constants& truth) {
  DeviceCalls measured{.device = Preset(name), .calls = {}};
  const Chip chip = MakeChip(measured.device);
  for (int i = 0; i < 120; ++i) {
    const Matmul matmul{.m = std::exp2(i % 12), .n = 512.0 * (1 + i % 7), .k = 1024.0 * (1 + i % 5)};
    measured.calls.push_back({.call = matmul, .us = UsOf(chip, truth, matmul)});
  }
  return measured;
}

TEST(FieldFit, ConstantsOfOtherKernelsComeBack) {
  if (!calibrated::HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const Constants& shipped = *DefaultConstants();
  Constants truth = shipped;
  truth.matmul.start_clocks *= 1.5;
  truth.matmul.memory_fraction *= 0.8;
  const std::vector<DeviceCalls> measured = {Measured("H100_80GB", truth), Measured("A100_SXM_80GB", truth)};
  const Constants fitted = FitFamily(shipped, "matmul", measured);
  EXPECT_NEAR(fitted.matmul.start_clocks / truth.matmul.start_clocks, 1, 0.1);
  EXPECT_NEAR(fitted.matmul.memory_fraction / truth.matmul.memory_fraction, 1, 0.1);
  EXPECT_EQ(fitted.matmul.sigma, shipped.matmul.sigma);
  EXPECT_EQ(fitted.f8.passes_bytes, shipped.f8.passes_bytes);
}

TEST(FieldFit, FamiliesWithoutCallsStayAsTheyAre) {
  const std::vector<DeviceCalls> measured = {Measured("H100_80GB", *DefaultConstants())};
  EXPECT_TRUE(HasFamily("matmul", measured));
  EXPECT_FALSE(HasFamily("experts", measured));
  const Constants fitted = FitFamily(*DefaultConstants(), "experts", measured);
  EXPECT_EQ(fitted.experts.start_clocks, DefaultConstants()->experts.start_clocks);
}

TEST(FieldNoise, GrowsWithLengthAndWhereCopiesOfWeightsMatter) {
  const Constants& constants = *DefaultConstants();
  const Chip l40s = MakeChip(Preset("L40S_48GB"));
  const auto noise = [&](double n, double us) {
    return NoiseOf(l40s, constants, Matmul{.m = 16, .n = n, .k = 4096}, us);
  };
  const double small = noise(256, 10), large = noise(65536, 10);  // 2 MiB: five copies stay in L2; 512 MiB: none does
  EXPECT_NEAR(small, std::hypot(0.015, 0.065), 0.003);
  EXPECT_NEAR(large, small, 0.003);
  EXPECT_GT(noise(4096, 40), 0.1);  // 32 MiB: one copy stays
  EXPECT_NEAR(noise(65536, 1000), std::hypot(0.04, 0.065), 0.003);
  EXPECT_GT(noise(65536, 150), large);
}

}  // namespace
}  // namespace hespas::estimate::field
