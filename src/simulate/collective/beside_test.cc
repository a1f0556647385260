#include "simulate/collective/beside.h"

#include <gtest/gtest.h>

namespace hespas::simulate {
namespace {

TEST(Beside, KernelsAdvanceMoreSlowlyWhileACollectiveRuns) {
  const std::vector<std::pair<uint64_t, uint64_t>> collectives = {{100, 200}, {300, 400}};
  EXPECT_EQ(EndBeside(0, 50, collectives, 0.5), 50u);
  EXPECT_EQ(EndBeside(100, 40, collectives, 0.5), 180u);
  EXPECT_EQ(EndBeside(0, 200, collectives, 0.5), 250u);    // 100 alone, 50 beside, 50 alone
  EXPECT_EQ(EndBeside(150, 200, collectives, 0.5), 425u);  // 25 beside, 100 alone, 50 beside, 25 alone
  EXPECT_EQ(EndBeside(500, 10, collectives, 0.5), 510u);
}

}  // namespace
}  // namespace hespas::simulate
