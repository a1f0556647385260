#include "optimise/gpu/kernel_time.h"

#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

constexpr double kManyBlocks = 1e6;
const GpuFigures kA100{};

TEST(ReadTime, FirstReadComesFromMemory) {
  EXPECT_EQ(ReadTicks(kA100, 1.555e9, 1.555e9, kManyBlocks), 1e-3 * kTicksPerSecond);
  EXPECT_EQ(ReadTicks(kA100, 3.11e9, 1.555e9, kManyBlocks), 1e-3 * kTicksPerSecond);  // half of a value
}

TEST(ReadTime, FewBlocksAskForLittle) {
  EXPECT_NEAR(ReadTicks(kA100, 1e9, 1e9, 2), 1e9 / (2 * 1.41e9 * 32) * kTicksPerSecond, 0.5);
}

// A tick is 388.75 bytes.
TEST(ReadTime, IsAWholeNumberOfTicks) {
  EXPECT_EQ(ReadTicks(kA100, 1000, 1000, kManyBlocks), 3);
  EXPECT_EQ(ReadTicks(kA100, 1100, 1100, kManyBlocks), 3);
}

// A core of 1.41 GHz counts 2 operations a nanosecond: 2.82, rounded down as in XLA.
TEST(KernelTime, OverlapsAllButATwentiethOfTheShorterPart) {
  const double operations = 4000.0 * 2 * 108 * 64;  // 4 us
  EXPECT_EQ(KernelTicks(kA100, 40000, operations, kManyBlocks), 40800);
  EXPECT_EQ(KernelTicks(kA100, 4000, operations, kManyBlocks), 16200);
}

TEST(KernelTime, OneBlockKeepsOneProcessorBusy) {
  EXPECT_EQ(KernelTicks(kA100, 0, 1000.0 * 2 * 64, 1), 4000);
  EXPECT_EQ(KernelTicks(kA100, 0, 1000.0 * 2 * 64, 4), 1000);
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
