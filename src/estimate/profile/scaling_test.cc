#include "estimate/profile/scaling.h"

#include <gtest/gtest.h>

namespace hespas::estimate {
namespace {

TEST(Scaling, ByTheFamilyElseByAll) {
  const std::vector<ScaledBlock> blocks = {{.family = "dot", .modelled = 1.0, .measured = 3.0},
                                           {.family = "dot", .modelled = 3.0, .measured = 5.0},
                                           {.family = "dot", .modelled = 10.0},
                                           {.family = "add", .modelled = 2.0},
                                           {.family = "exp", .modelled = 4.0, .measured = 4.0}};
  const Scale scale(blocks);
  EXPECT_DOUBLE_EQ(scale.Seconds(blocks[2]), 10.0 * 8 / 4);
  EXPECT_DOUBLE_EQ(scale.Seconds(blocks[3]), 2.0 * 12 / 8);
  // dot: 1 * 5 / 3 for 3, 3 * 3 / 1 for 5; exp: 4 * 8 / 4 for 4
  EXPECT_DOUBLE_EQ(scale.LeaveOneOutError().value(), ((3 - 5.0 / 3) + 4 + 4) / 12);
  const std::vector<ScaledBlock> one = {blocks[0], blocks[2]};
  EXPECT_FALSE(Scale(one).LeaveOneOutError().has_value());
}

TEST(Scaling, SamplesAreSpreadFromTheDearestToTheCheapest) {
  std::vector<ScaledBlock> blocks;
  for (int i = 0; i < 9; ++i) blocks.push_back({.family = "dot", .modelled = 1.0 + i});
  blocks.push_back({.family = "add", .modelled = 1.0});
  EXPECT_EQ(ChooseSample(blocks, 3), (std::vector<size_t>{0, 4, 8, 9}));
  EXPECT_EQ(ChooseSample(blocks, 1), (std::vector<size_t>{8, 9}));
  EXPECT_EQ(ChooseSample(blocks, 0).size(), 10u);
}

}  // namespace
}  // namespace hespas::estimate
