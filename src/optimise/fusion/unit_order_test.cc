#include "optimise/fusion/unit_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hespas::optimise {
namespace {

TEST(UnitOrder, MovesAsAListDoes) {
  constexpr uint32_t kCount = 40;
  UnitOrder order(kCount);
  std::vector<uint32_t> list;
  for (uint32_t unit = 0; unit < kCount; ++unit) {
    order.Append(unit);
    list.push_back(unit);
  }
  std::mt19937 random(1);
  // Always in front of the same few units, so that the gaps there are used up many times over.
  for (int step = 0; step < 2000; ++step) {
    const uint32_t target = step % 3;
    std::vector<uint32_t> moved;
    for (const uint32_t unit : list) {
      if (unit > 2 && random() % 8 == 0) moved.push_back(unit);
    }
    for (const uint32_t m : moved) list.erase(std::find(list.begin(), list.end(), m));
    list.insert(std::find(list.begin(), list.end(), target), moved.begin(), moved.end());
    order.MoveBefore(moved, target);
    if (step == 1000) {
      order.Remove(7);
      list.erase(std::find(list.begin(), list.end(), 7u));
    }
    ASSERT_TRUE(std::is_sorted(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return order.place(a) < order.place(b);
    })) << step;
  }
}

}  // namespace
}  // namespace hespas::optimise
