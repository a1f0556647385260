#include "optimise/gpu/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

TEST(Layout, ReshapesThatDivideNeighboursMoveNothing) {
  // Memory holds heads before sequence; both parts of the divided dimension stay together.
  const auto aligned = Align({4, 256, 128}, Layout::Of({0, 2, 1}), {4, 256, 2, 64});
  ASSERT_TRUE(aligned);
  EXPECT_EQ(*aligned, Layout::Of({0, 2, 3, 1}));
  EXPECT_FALSE(Align({4, 256, 2, 64}, Layout::Of({0, 2, 1, 3}), {1024, 128}));
}

TEST(Layout, UnitDimensionsLieOutermost) {
  EXPECT_EQ(Align({4, 256}, Layout::Default(2), {4, 256, 1}), Layout::Of({2, 0, 1}));
  EXPECT_TRUE(EqualInMemory({4, 1, 8}, Layout::Of({1, 0, 2}), Layout::Default(3)));
  EXPECT_FALSE(EqualInMemory({4, 2, 8}, Layout::Of({1, 0, 2}), Layout::Default(3)));
}

TEST(Layout, MatricesKeepBatchesFromTheInnermostPlace) {
  EXPECT_TRUE(IsMatrix(Layout::Default(3), {0}, {1}, {2}));
  EXPECT_TRUE(IsMatrix(Layout::Of({1, 0, 2}), {0}, {1}, {2}));
  EXPECT_FALSE(IsMatrix(Layout::Of({1, 2, 0}), {0}, {1}, {2}));
  EXPECT_FALSE(IsMatrix(Layout::Of({0, 2, 1, 3}), {0, 1}, {2}, {3}));
}

TEST(Layout, FilteredKeepsTheOrder) { EXPECT_EQ(Filtered(Layout::Of({3, 1, 0, 2}), {0, 3}), Layout::Of({1, 0})); }

}  // namespace
}  // namespace hespas::optimise
