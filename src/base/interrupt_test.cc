#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace hespas {
namespace {

bool InterruptedWithin(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    if (Interrupted()) return true;
  }
  return false;
}

TEST(Interrupt, NothingIsInterruptedWithoutAScope) { EXPECT_FALSE(Interrupted()); }

TEST(Interrupt, IsAskedRarelyAndStays) {
  int asked = 0;
  const InterruptScope scope([&asked] { return ++asked == 2; });
  EXPECT_TRUE(InterruptedWithin(std::chrono::seconds(60)));
  EXPECT_TRUE(Interrupted());
  EXPECT_EQ(asked, 2);
}

TEST(Interrupt, HoldsForItsThreadOnly) {
  const InterruptScope scope([] { return true; });
  bool elsewhere = true;
  std::thread([&elsewhere] { elsewhere = InterruptedWithin(std::chrono::milliseconds(120)); }).join();
  EXPECT_FALSE(elsewhere);
  EXPECT_TRUE(InterruptedWithin(std::chrono::seconds(60)));
}

TEST(Interrupt, InnerScopesHideOuterOnes) {
  const InterruptScope outer([] { return true; });
  {
    const InterruptScope inner([] { return false; });
    EXPECT_FALSE(InterruptedWithin(std::chrono::milliseconds(120)));
  }
  EXPECT_TRUE(InterruptedWithin(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace hespas
