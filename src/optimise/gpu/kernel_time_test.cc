#include "optimise/gpu/kernel_time.h"

#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

constexpr double kManyBlocks = 1e6;
const GpuFigures kA100{};

TEST(ReadTime, FirstReadComesFromMemory) {
  EXPECT_DOUBLE_EQ(ReadTime(kA100, 1.555e9, 1.555e9, kManyBlocks), 1e-3);
  EXPECT_DOUBLE_EQ(ReadTime(kA100, 3.11e9, 1.555e9, kManyBlocks), 1e-3);  // half of a value
}

TEST(ReadTime, FewBlocksAskForLittle) { EXPECT_DOUBLE_EQ(ReadTime(kA100, 1e9, 1e9, 2), 1e9 / (2 * 1.41e9 * 32)); }

// A core of 1.41 GHz counts 2 operations a nanosecond: 2.82, rounded down as in XLA.
TEST(KernelTime, OverlapsAllButATwentiethOfTheShorterPart) {
  const double operations = 4000.0 * 2 * 108 * 64;  // 4 us
  EXPECT_NEAR(KernelTime(kA100, 10e-6, operations, kManyBlocks), 10.2e-6, 1e-15);
  EXPECT_NEAR(KernelTime(kA100, 1e-6, operations, kManyBlocks), 4.05e-6, 1e-15);
}

TEST(KernelTime, OneBlockKeepsOneProcessorBusy) {
  EXPECT_NEAR(KernelTime(kA100, 0, 1000.0 * 2 * 64, 1), 1e-6, 1e-15);
  EXPECT_NEAR(KernelTime(kA100, 0, 1000.0 * 2 * 64, 4), 0.25e-6, 1e-15);
}

TEST(OperationClocks, FollowTheProfileOfTheCapability) {
  const GpuFigures hopper{.capability = 90};
  EXPECT_EQ(OperationClocks(kA100, ir::OpKind::kExponential, true), 3);
  EXPECT_EQ(OperationClocks(hopper, ir::OpKind::kExponential, true), 79);
  EXPECT_EQ(OperationClocks(kA100, ir::OpKind::kLog, true), 259);
  EXPECT_EQ(OperationClocks(hopper, ir::OpKind::kLog, false), 3);  // 16-bit floats have no profile
  EXPECT_EQ(OperationClocks(hopper, ir::OpKind::kReshape, true), 0);
}

}  // namespace
}  // namespace hespas::optimise
