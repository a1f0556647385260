#include "sweep/answer/analysis.h"

#include <gmock/gmock.h>

#include <cmath>

namespace hespas::sweep {
namespace {

using ::testing::ElementsAre;

std::vector<Json> Rows(const std::vector<std::pair<double, double>>& pairs) {
  std::vector<Json> rows;
  for (const auto& [x, y] : pairs) rows.push_back({{"x", x}, {"y", y}});
  return rows;
}

TEST(ParetoFront, HasTheRowsThatNoOtherBeatsInBoth) {
  EXPECT_THAT(ParetoFront(Rows({{3, 1}, {1, 3}, {2, 2}, {2, 3}, {3, 3}}), "x", "y"), ElementsAre(1, 2, 0));
}

TEST(ParetoFront, LeavesRowsWithoutANumberOut) {
  auto rows = Rows({{2, 2}, {1, 1}});
  rows[1]["y"] = nullptr;
  EXPECT_THAT(ParetoFront(rows, "x", "y"), ElementsAre(0));
}

// log y = 2 a + b: the axes explain 4/5 and 1/5 of the variance.
TEST(Effects, AreFractionsOfTheVarianceOfTheLogarithm) {
  std::vector<Json> rows;
  for (const int a : {0, 1}) {
    for (const int b : {0, 1}) rows.push_back({{"a", a}, {"b", b}, {"y", std::exp(2.0 * a + b)}});
  }
  const auto effects = EffectsOf(rows, {"a", "b"}, "y");
  ASSERT_EQ(effects.size(), 2);
  EXPECT_EQ(effects[0].axis, "a");
  EXPECT_NEAR(effects[0].share, 0.8, 1e-12);
  EXPECT_NEAR(effects[1].share, 0.2, 1e-12);
  EXPECT_NEAR(effects[0].slowest, std::exp(2.0), 1e-9);
}

TEST(Bins, AreRangesOfEqualWidthBeyondTheMost) {
  std::vector<Json> rows;
  for (int i = 0; i < 8; ++i) rows.push_back({{"x", i}});
  EXPECT_EQ(BinsOf(rows, "x", 8).labels.size(), 8);
  const Bins bins = BinsOf(rows, "x", 4);
  EXPECT_EQ(bins.labels.size(), 4);
  EXPECT_THAT(bins.of_row, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

}  // namespace
}  // namespace hespas::sweep
