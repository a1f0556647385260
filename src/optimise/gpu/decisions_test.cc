#include "optimise/gpu/decisions.h"

#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

// 1.555 GB take a millisecond on an A100; caches do not hold them.
constexpr double kBytes = 1.555e9;
constexpr double kMillisecond = 1e-3;
constexpr double kLaunch = 1e-6;
constexpr double kBlocks = 1e6;
const GpuFigures kA100{};
const std::vector<ReadTraffic> kWhole{{kBytes, kBytes}};

// A copy of an array, and `consumers` more of its result.
DuplicationQuestion Copies(size_t consumers, double calls = 1) {
  const KernelWork copy{.written = kBytes, .blocks = kBlocks, .reads = kWhole};
  const ConsumerWork consumer{
      .before = copy, .calls = calls, .times = 1, .blocks_fused = kBlocks, .reads_fused = kWhole};
  return {.producer = copy, .consumers = std::vector<ConsumerWork>(consumers, consumer)};
}

TEST(FusionBenefit, SavesTheLaunchTheReadAndTheWriteOfTheProducer) {
  EXPECT_NEAR(FusionBenefit(Copies(1), kA100), kLaunch + 2 * kMillisecond, 1e-9);
  EXPECT_NEAR(FusionBenefit(Copies(3), kA100), kLaunch + 2 * kMillisecond, 1e-9);
}

TEST(FusionBenefit, FurtherCallsReadTheInputsAgain) { EXPECT_NEAR(FusionBenefit(Copies(1, 3), kA100), kLaunch, 1e-9); }

TEST(FusionBenefit, WorkIsDoneAsOftenAsItIsAskedFor) {
  DuplicationQuestion question = Copies(1);
  question.producer.operations = 2 * 108 * 64 * 1e7;  // 10 ms
  const double once = FusionBenefit(question, kA100);
  question.consumers[0].times = 2;
  EXPECT_NEAR(once - FusionBenefit(question, kA100), 10 * kMillisecond, 1e-9);
}

TEST(Answer, ATieGoesToTheFirstUnlessMoreIsAsked) {
  EXPECT_TRUE(Answer(PriorityQuestion{.strictly = false, .first = Copies(1), .second = Copies(1)}, kA100));
  EXPECT_FALSE(Answer(PriorityQuestion{.strictly = true, .first = Copies(1), .second = Copies(1)}, kA100));
  EXPECT_TRUE(Answer(PriorityQuestion{.strictly = true, .first = Copies(1), .second = Copies(1, 2)}, kA100));
}

TEST(Answer, OneKernelOfTwoOutputsSavesTheReadBetween) {
  MultiOutputQuestion question{.producer = Copies(1).producer, .consumer = Copies(1).consumers[0]};
  EXPECT_TRUE(Answer(question, kA100));
  question.consumer.reads_fused = {{kBytes, 3 * kBytes}};
  EXPECT_TRUE(Answer(question, GpuFigures{.l2_bytes = 2 * kBytes}));  // further reads come from the cache
  EXPECT_FALSE(Answer(question, kA100));
}

TEST(Decisions, HoldForDevicesThatAnswerAlike) {
  Decisions decisions;
  EXPECT_TRUE(decisions.Ask(MemoryQuestion{.temporary_bytes = 20e9, .held_bytes = 1e9}, kA100));
  EXPECT_TRUE(decisions.HoldFor({.memory_bytes = 80e9}));
  EXPECT_FALSE(decisions.HoldFor({.memory_bytes = 20e9}));
  decisions.Ask(RatesOf(kA100), kA100);
  EXPECT_FALSE(decisions.HoldFor({.clock_hz = 1.5e9}));
  EXPECT_EQ(decisions.size(), 2u);
}

}  // namespace
}  // namespace hespas::optimise
