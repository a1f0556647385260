// Twenty-four measured kernels a family make a better device file: drawn with fixed seeds, tested on the rest.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "estimate/calibrated/fit/fit.h"
#include "estimate/calibrated/fit/minimise.h"
#include "estimate/calibrated/fit/shared_fit.h"
#include "estimate/calibrated/fit/table.h"
#include "hardware/presets.h"

namespace hespas::estimate::calibrated {
namespace {

std::vector<MeasuredKernel> Matmuls(const std::string& key, Datatype type = Datatype::kBf16) {
  const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/measured/gemm.csv";
  const auto table = *ParseCsv(*ReadInput(file), file);
  Diagnostics diagnostics;
  const auto kernels = *ReadKernels(table, file, diagnostics);
  std::vector<MeasuredKernel> measured;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row][*table.Column("key")] != key || kernels[row]->type != type) continue;
    measured.push_back({.kernel = *kernels[row], .us = *CsvNumber(table.rows[row][*table.Column("latency_us")])});
  }
  return measured;
}

// The preset without the constants that were fitted on all its kernels.
hardware::Device Uncalibrated(const std::string& name) {
  Diagnostics diagnostics;
  hardware::Device device = *hardware::LoadDevice(name, diagnostics);
  device.calibration.clear();
  return device;
}

struct Errors {
  double zero_shot = 0;
  double calibrated = 0;
};

Errors MeanOfFourDraws(const std::string& key, const std::string& preset) {
  const hardware::Device base = Uncalibrated(preset);
  std::vector<MeasuredKernel> kernels = Matmuls(key);
  Errors errors;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    std::shuffle(kernels.begin(), kernels.end(), random);
    const std::vector<MeasuredKernel> drawn(kernels.begin(), kernels.begin() + 24);
    const auto fits = FitDevice(base, *DefaultParameters(), drawn, {});
    EXPECT_TRUE(fits.ok());
    hardware::Device device = base;
    for (const auto& [constant, value] : fits->front().constants) device.calibration[constant] = value;
    const KernelModel before(base, *DefaultParameters());
    const KernelModel after(device, *DefaultParameters());
    const auto rest = static_cast<double>(kernels.size() - drawn.size());
    for (size_t i = drawn.size(); i < kernels.size(); ++i) {
      errors.zero_shot += std::abs(before.Time(kernels[i].kernel).us / kernels[i].us - 1) / rest / 4;
      errors.calibrated += std::abs(after.Time(kernels[i].kernel).us / kernels[i].us - 1) / rest / 4;
    }
  }
  return errors;
}

TEST(Calibrate, TwentyFourMatmulsSufficeForH100) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  EXPECT_LE(100 * MeanOfFourDraws("sm_90", "H100_80GB").calibrated, 4.5);
}

TEST(Calibrate, TwentyFourMatmulsSufficeForAnotherVendorsDevice) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const Errors errors = MeanOfFourDraws("gfx942", "MI300X");
  EXPECT_LE(100 * errors.calibrated, 10);
  EXPECT_LT(errors.calibrated, errors.zero_shot / 2);
}

// Kernels of a device whose lanes sustain 0.9 of the shared fraction, six of twenty-four disturbed.
TEST(Calibrate, AFewOddKernelsDoLittleHarm) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const hardware::Device base = Uncalibrated("V100_PCIe_32GB");
  hardware::Device slow = base;
  slow.calibration["linear.sustained_fraction"] = 0.9 * DefaultParameters()->linear.sustained_fraction;
  const KernelModel truth(slow, *DefaultParameters());
  std::vector<MeasuredKernel> drawn;
  for (int i = 0; i < 24; ++i) {
    const double size = 1024 + 256 * i;
    const KernelSpec kernel{.shape = Shape::kLinear, .m = size, .n = 4096, .k = 1024};
    drawn.push_back({.kernel = kernel, .us = truth.Time(kernel).us * (i % 4 == 0 ? 2 : 1)});
  }
  const auto fits = FitDevice(base, *DefaultParameters(), drawn, {});
  ASSERT_TRUE(fits.ok());
  hardware::Device fitted = base;
  for (const auto& [constant, value] : fits->front().constants) fitted.calibration[constant] = value;
  const KernelModel model(fitted, *DefaultParameters());
  for (int i = 1; i < 4; ++i) {
    const KernelSpec& kernel = drawn[static_cast<size_t>(i)].kernel;
    EXPECT_NEAR(model.Time(kernel).us / truth.Time(kernel).us, 1, 0.03);
  }
}

TEST(Calibrate, Tf32HasConstantsOfItsOwn) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const hardware::Device base = Uncalibrated("H100_80GB");
  std::vector<MeasuredKernel> drawn;
  const auto draw = [&](Datatype type) {
    const auto all = Matmuls("sm_90", type);
    for (size_t i = 0; i < 24; ++i) drawn.push_back(all[i * all.size() / 24]);
  };
  draw(Datatype::kBf16);
  const auto alone = FitDevice(base, *DefaultParameters(), drawn, {});
  draw(Datatype::kTf32);
  const auto both = FitDevice(base, *DefaultParameters(), drawn, {});
  ASSERT_TRUE(alone.ok() && both.ok());
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ(both->front().constants, alone->front().constants);
  EXPECT_EQ(both->back().family, "tf32");
  EXPECT_LT(both->back().error_after, both->back().error_before);
  EXPECT_TRUE(both->back().sigmas.contains("tf32.sigma"));
}

TEST(Calibrate, CollectivesStateWhatLatencyAndRateLeaveOpen) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const hardware::Device base = Uncalibrated("H100_80GB");
  const CollectiveModel truth(base, *DefaultParameters());
  std::vector<MeasuredCollective> measured;
  for (int i = 0; i < 24; ++i) {
    const CollectiveSpec spec{.ranks = static_cast<double>(2 << (i % 3)), .bytes = std::exp2(10 + i % 20)};
    measured.push_back({.collective = spec, .us = truth.Time(spec).us * (i % 2 == 0 ? 1.02 : 0.98)});
  }
  const auto fits = FitDevice(base, *DefaultParameters(), {}, measured);
  ASSERT_TRUE(fits.ok());
  for (const char* key : {"all-reduce.sigma", "all-reduce.latency_sigma"}) {
    ASSERT_TRUE(fits->front().sigmas.contains(key)) << key;
    EXPECT_LT(fits->front().sigmas.at(key), DefaultParameters()->collective_latency_sigma[0] / 2) << key;
  }
}

// Collectives of a switched device and of a mesh that both have other constants than the shared ones.
TEST(Calibrate, SharedConstantsOfCollectivesComeBack) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  Parameters truth = *DefaultParameters();
  for (CollectiveConstants& constants : truth.collectives) {
    constants.launch_us = 9;
    constants.hop_us = 2;
    constants.link_fraction = 0.7;
    constants.ramp = 0.5;
  }
  std::vector<DeviceCollectives> measured;
  for (const char* name : {"H100_80GB", "MI300X"}) {
    DeviceCollectives device{.device = Uncalibrated(name), .collectives = {}};
    const CollectiveModel model(device.device, truth);
    for (int i = 0; i < 252; ++i) {
      const CollectiveSpec spec{.op = static_cast<CollectiveOp>(i % 4),
                                .ranks = static_cast<double>(2 << (i / 4 % 3)),
                                .bytes = std::exp2(10 + i / 12)};
      device.collectives.push_back({.collective = spec, .us = model.Time(spec).us});
    }
    measured.push_back(std::move(device));
  }
  const Parameters fitted = FitSharedCollectives(*DefaultParameters(), measured);
  for (size_t op = 0; op < 4; ++op) {
    EXPECT_NEAR(fitted.collectives[op].launch_us, 9, 0.5) << op;
    EXPECT_NEAR(fitted.collectives[op].hop_us, 2, 0.2) << op;
    EXPECT_NEAR(fitted.collectives[op].link_fraction, 0.7, 0.02) << op;
    EXPECT_NEAR(fitted.collectives[op].ramp, 0.5, 0.05) << op;
  }
}

TEST(Calibrate, TooFewKernelsAreRefused) {
  if (!HasOptimiser()) GTEST_SKIP() << "built without NLopt";
  const auto kernels = Matmuls("sm_90");
  const auto fits =
      FitDevice(Uncalibrated("H100_80GB"), *DefaultParameters(), {kernels.begin(), kernels.begin() + 5}, {});
  ASSERT_FALSE(fits.ok());
  EXPECT_EQ(fits.error().kind, &kTooFewMeasurements);
}

}  // namespace
}  // namespace hespas::estimate::calibrated
