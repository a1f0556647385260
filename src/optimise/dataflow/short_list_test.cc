#include "optimise/dataflow/short_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "optimise/dataflow/rare_list.h"

namespace hespas::optimise {
namespace {

std::vector<int> Numbers(int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(i);
  return out;
}

TEST(ShortList, GrowsAsAVectorDoes) {
  ShortList<int> list;
  for (int i = 0; i < 100; ++i) {
    list.push_back(i);
    EXPECT_EQ(std::vector<int>(list), Numbers(i + 1));
  }
}

TEST(ShortList, KeepsItsItemsThroughCopiesAndMoves) {
  for (const int count : {0, 1, 3, 4, 5, 8, 9}) {
    ShortList<int> list(Numbers(count));
    ShortList<int> copy = list;
    const ShortList<int>& same = list;
    list = same;
    ShortList<int> moved = std::move(list);
    EXPECT_TRUE(list.empty());  // NOLINT(bugprone-use-after-move): promised
    list.push_back(7);
    EXPECT_EQ(std::vector<int>(list), std::vector<int>{7});
    copy.push_back(count);
    EXPECT_EQ(std::vector<int>(copy), Numbers(count + 1));
    EXPECT_EQ(std::vector<int>(moved), Numbers(count));
  }
}

TEST(ShortList, GrowsAgainAfterItShrank) {
  ShortList<int> list(Numbers(9));
  for (const size_t left : {size_t{4}, size_t{3}, size_t{0}}) {
    list.resize(left);
    for (int i = static_cast<int>(left); i < 20; ++i) list.push_back(i);
    EXPECT_EQ(std::vector<int>(list), Numbers(20));
  }
}

TEST(RareList, IsOnePointerUntilItHoldsSomething) {
  EXPECT_EQ(sizeof(RareList<int>), sizeof(void*));
  RareList<std::unique_ptr<int>> list;
  EXPECT_EQ(list.begin(), list.end());
  list.push_back(std::make_unique<int>(5));
  const RareList<std::unique_ptr<int>> moved = std::move(list);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(*moved[0], 5);
}

}  // namespace
}  // namespace hespas::optimise
