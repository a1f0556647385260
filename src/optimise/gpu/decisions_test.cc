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
constexpr ReadTraffic kWhole{kBytes, kBytes};
constexpr KernelWork kCopy{.written = kBytes, .blocks = kBlocks, .reads = 1};

// A copy of an array, and `consumers` more of its result.
FusionWork Copies(size_t consumers, double calls = 1) {
  const ConsumerWork consumer{.before = kCopy, .calls = calls, .times = 1, .blocks_fused = kBlocks, .reads_fused = 1};
  return {.producer = kCopy,
          .consumers = std::vector<ConsumerWork>(consumers, consumer),
          .reads = std::vector<ReadTraffic>(1 + 2 * consumers, kWhole)};
}

TEST(FusionBenefit, SavesTheLaunchTheReadAndTheWriteOfTheProducer) {
  EXPECT_NEAR(FusionBenefit(Copies(1), kA100), kLaunch + 2 * kMillisecond, 1e-9);
  EXPECT_NEAR(FusionBenefit(Copies(3), kA100), kLaunch + 2 * kMillisecond, 1e-9);
}

TEST(FusionBenefit, FurtherCallsReadTheInputsAgain) { EXPECT_NEAR(FusionBenefit(Copies(1, 3), kA100), kLaunch, 1e-9); }

TEST(FusionBenefit, WorkIsDoneAsOftenAsItIsAskedFor) {
  FusionWork question = Copies(1);
  question.producer.operations = 2 * 108 * 64 * 1e7;  // 10 ms
  const double once = FusionBenefit(question, kA100);
  question.consumers[0].times = 2;
  EXPECT_NEAR(once - FusionBenefit(question, kA100), 10 * kMillisecond, 1e-9);
}

TEST(PaysToJoin, OneKernelOfTwoOutputsSavesTheReadBetween) {
  FusionWork work = Copies(1);
  EXPECT_TRUE(PaysToJoin(work, kA100));
  work.reads.back() = {kBytes, 3 * kBytes};
  EXPECT_TRUE(PaysToJoin(work, GpuFigures{.l2_bytes = 2 * kBytes}));  // further reads come from the cache
  EXPECT_FALSE(PaysToJoin(work, kA100));
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

// Copies of few bytes last as long as the launch, copies of many as long as the memory takes: on a faster memory
// arithmetic that is done once instead of twice leads.
TEST(Decisions, EqualWorksAreOneAndTheOrderOfTwoIsKept) {
  FusionWork repeated = Copies(1);
  repeated.producer.operations = 2 * 108 * 64 * 1e6;  // 1 ms, and twice that where it is asked for twice
  repeated.consumers[0].times = 2;
  FusionWork small = Copies(1);
  for (ReadTraffic& read : small.reads) read = {kBytes / 4, kBytes / 4};
  small.producer.written = small.consumers[0].before.written = kBytes / 4;
  const double of_repeated = FusionBenefit(repeated, kA100);
  const double of_small = FusionBenefit(small, kA100);
  ASSERT_GT(of_repeated, of_small);
  ASSERT_GT(of_small, 0);

  Decisions decisions;
  const uint32_t first = decisions.Note(repeated, of_repeated);
  const uint32_t second = decisions.Note(small, of_small);
  EXPECT_EQ(decisions.Note(repeated, of_repeated), first);
  EXPECT_NE(first, second);
  decisions.NoteOrder(first, second, true);
  EXPECT_TRUE(decisions.HoldFor(kA100));
  GpuFigures slow_clock = kA100;
  slow_clock.clock_hz /= 1.5;
  const double now = FusionBenefit(repeated, slow_clock);
  ASSERT_GT(now, 0);
  ASSERT_LT(now, FusionBenefit(small, slow_clock));
  EXPECT_FALSE(decisions.HoldFor(slow_clock));
}

TEST(Decisions, AWorkThatNoLongerPaysIsAnotherAnswer) {
  FusionWork work = Copies(1);
  work.producer.operations = 2 * 108 * 64 * 1e7;  // 10 ms
  work.consumers[0].times = 1.1;
  Decisions decisions;
  decisions.Note(work, FusionBenefit(work, kA100));
  EXPECT_TRUE(decisions.HoldFor(kA100));
  EXPECT_FALSE(decisions.HoldFor({.clock_hz = kA100.clock_hz / 10}));
}

}  // namespace
}  // namespace hespas::optimise
