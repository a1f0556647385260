#include "estimate/profile/scaling.h"

#include <gtest/gtest.h>

namespace hespas::estimate {
namespace {

ScaledBlock Made(std::string family, double modelled, double flops, std::optional<double> measured) {
  return {.family = std::move(family), .traits = {modelled, flops, 0, 0}, .measured = measured};
}

TEST(Scaling, FollowsWhatTheTimeIsProportionalTo) {
  // 2 ns a flop, whatever the fallback says
  const std::vector<ScaledBlock> blocks = {Made("dot", 1e-3, 1e6, 2e-3), Made("dot", 1e-3, 4e6, 8e-3),
                                           Made("dot", 1e-3, 3e6, {}), Made("add", 1e-3, 5e6, {})};
  const Scale scale(blocks);
  EXPECT_NEAR(scale.Seconds(blocks[2]), 6e-3, 1e-8);
  EXPECT_NEAR(scale.Seconds(blocks[3]), 10e-3, 1e-8);
}

TEST(Scaling, FamiliesHaveRatiosOfTheirOwn) {
  const std::vector<ScaledBlock> blocks = {Made("dot", 1e-3, 0, 1e-3), Made("dot", 2e-3, 0, 2e-3),
                                           Made("exp", 1e-3, 0, 7e-3), Made("exp", 3e-3, 0, {})};
  EXPECT_NEAR(Scale(blocks).Seconds(blocks[3]), 21e-3, 1e-6);
}

TEST(Scaling, ErrorIsOfBlocksFromTheOthers) {
  // each is the other's, twice or half as large
  const std::vector<ScaledBlock> exact = {Made("dot", 1e-3, 0, 5e-3), Made("dot", 2e-3, 0, 10e-3)};
  EXPECT_NEAR(Scale(exact).LeaveOneOutError().value(), 0, 1e-9);
  const std::vector<ScaledBlock> off = {Made("dot", 1e-3, 0, 5e-3), Made("dot", 1e-3, 0, 10e-3)};
  EXPECT_NEAR(Scale(off).LeaveOneOutError().value(), 10.0 / 15, 1e-9);
  const std::vector<ScaledBlock> one = {exact[0], Made("dot", 1e-3, 0, {})};
  EXPECT_FALSE(Scale(one).LeaveOneOutError().has_value());
}

TEST(Scaling, WithoutMeasurementsTheFallbackCounts) {
  const std::vector<ScaledBlock> blocks = {Made("dot", 3e-3, 1e6, {})};
  EXPECT_DOUBLE_EQ(Scale(blocks).Seconds(blocks[0]), 3e-3);
}

TEST(Scaling, SamplesAreSpreadFromTheHeaviestToTheLightest) {
  std::vector<ScaledBlock> blocks;
  for (int i = 0; i < 9; ++i) blocks.push_back(Made("dot", 1.0 + i, 0, {}));
  blocks.push_back(Made("add", 1.0, 0, {}));
  EXPECT_EQ(ChooseSample(blocks, 3), (std::vector<size_t>{0, 4, 8, 9}));
  EXPECT_EQ(ChooseSample(blocks, 1), (std::vector<size_t>{8, 9}));
  EXPECT_EQ(ChooseSample(blocks, 0).size(), 10u);
  blocks[2].uses = 10;
  EXPECT_EQ(ChooseSample(blocks, 1), (std::vector<size_t>{2, 9}));
}

}  // namespace
}  // namespace hespas::estimate
