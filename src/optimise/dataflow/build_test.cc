#include "optimise/dataflow/build.h"

#include <gtest/gtest.h>

namespace hespas::optimise {
namespace {

TEST(Dimensions, EqualWithoutUnits) {
  const Dimensions shapes[] = {{}, {1}, {2, 3}, {1, 2, 3}, {2, 1, 3, 1}, {3, 2}, {2, 3, 4}, {2}, {6}};
  for (const Dimensions& a : shapes) {
    for (const Dimensions& b : shapes) EXPECT_EQ(EqualWithoutUnits(a, b), WithoutUnits(a) == WithoutUnits(b));
  }
}

}  // namespace
}  // namespace hespas::optimise
