#include "optimise/gpu/benefit_queue.h"

#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

const NodeId kA(0), kB(1), kC(2);

TEST(BenefitQueue, HighestBenefitComesFirst) {
  BenefitQueue queue(3);
  queue.Set(kA, 1);
  queue.Set(kB, 3);
  queue.Set(kC, 2);
  EXPECT_EQ(queue.Pop(), kB);
  EXPECT_EQ(queue.Pop(), kC);
  EXPECT_EQ(queue.Pop(), kA);
  EXPECT_TRUE(queue.done());
}

TEST(BenefitQueue, AmongEqualsTheLastOfTheProgramComesFirst) {
  BenefitQueue queue(3);
  for (const NodeId id : {kB, kA, kC}) queue.Set(id, 1);
  EXPECT_EQ(queue.Pop(), kC);
  EXPECT_EQ(queue.Pop(), kB);
  EXPECT_EQ(queue.Pop(), kA);
}

TEST(BenefitQueue, AmongEqualsTheKernelThatTookInAValueLastComesFirst) {
  BenefitQueue queue(3);
  for (const NodeId id : {kB, kA, kB}) queue.TakeIn(id);  // B has taken in one before A
  EXPECT_TRUE(queue.IsNewer(kA, kB));
  EXPECT_TRUE(queue.IsNewer(kB, kC));
  for (const NodeId id : {kA, kB, kC}) queue.Set(id, 1);
  EXPECT_EQ(queue.Pop(), kA);
  EXPECT_EQ(queue.Pop(), kB);
  EXPECT_EQ(queue.Pop(), kC);
}

TEST(BenefitQueue, ALossIsNotQueuedAndZeroIs) {
  BenefitQueue queue(2);
  queue.Set(kA, -1e-9);
  EXPECT_TRUE(queue.empty());
  queue.Set(kB, 0);
  EXPECT_EQ(queue.Pop(), kB);
}

TEST(BenefitQueue, EarlierEntriesBecomeStale) {
  BenefitQueue queue(2);
  queue.Set(kA, 5);
  queue.Set(kB, 3);
  queue.Set(kA, 1);
  EXPECT_FALSE(queue.Pop().valid());  // the entry of 5
  EXPECT_EQ(queue.Pop(), kB);
  EXPECT_EQ(queue.Pop(), kA);
}

TEST(BenefitQueue, APutOffValueIsGivenBackOnce) {
  BenefitQueue queue(2);
  queue.PutOff(kA);
  queue.PutOff(kA);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.done());
  EXPECT_TRUE(queue.IsOutdated(kA));
  EXPECT_EQ(queue.TakeOutdated(), std::vector<NodeId>{kA});
  queue.Set(kA, -1);
  EXPECT_FALSE(queue.IsOutdated(kA));
  EXPECT_TRUE(queue.done());
}

}  // namespace
}  // namespace hespas::optimise
