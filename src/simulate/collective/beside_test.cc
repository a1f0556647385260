#include "simulate/collective/beside.h"

#include <gtest/gtest.h>

#include <vector>

namespace hespas::simulate {
namespace {

TEST(Beside, KernelsAdvanceMoreSlowlyWhileACollectiveRuns) {
  const std::vector<Beside> collectives = {{.begin = 100, .end = 200}, {.begin = 300, .end = 400}};
  const KernelNeeds half{.units_left = 0.5};
  EXPECT_EQ(EndBeside(0, 50, collectives, half), 50u);
  EXPECT_EQ(EndBeside(100, 40, collectives, half), 180u);
  EXPECT_EQ(EndBeside(0, 200, collectives, half), 250u);    // 100 alone, 50 beside, 50 alone
  EXPECT_EQ(EndBeside(150, 200, collectives, half), 425u);  // 25 beside, 100 alone, 50 beside, 25 alone
  EXPECT_EQ(EndBeside(500, 10, collectives, half), 510u);
}

TEST(Beside, MemoryIsSharedWithKernelsThatNeedIt) {
  const std::vector<Beside> collectives = {{.begin = 0, .end = 100, .memory_share = 0.25}};
  EXPECT_EQ(EndBeside(0, 60, collectives, {.memory_share = 0.75}), 60u);                   // both fit
  EXPECT_EQ(EndBeside(0, 60, collectives, {.memory_share = 1}), 80u);                      // three quarters are left
  EXPECT_EQ(EndBeside(0, 90, collectives, {.memory_share = 1}), 115u);                     // 75 beside, 15 alone
  EXPECT_EQ(EndBeside(0, 60, collectives, {.units_left = 0.6, .memory_share = 1}), 100u);  // the scarcer of the two
}

}  // namespace
}  // namespace hespas::simulate
