#include "base/text/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace hespas {
namespace {

// XXH3-128 of the empty input, from xxHash's own specification: the value may never change, caches are keyed by it.
TEST(Hash, IsXxh3AndStable) { EXPECT_EQ(HashBytes("").hex(), "99aa06d3014798d86001c324468d497f"); }

TEST(Hash, SeparatesNearbyInputs) {
  std::set<Hash128> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(HashBytes(std::to_string(i)));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Hash, CombinationDependsOnOrder) {
  const Hash128 a = HashBytes("a"), b = HashBytes("b");
  EXPECT_NE(Combine(Combine({}, a), b), Combine(Combine({}, b), a));
  EXPECT_NE(Combine(a, uint64_t{1}), Combine(a, uint64_t{2}));
  EXPECT_EQ(Combine(a, b), Combine(a, b));
}

}  // namespace
}  // namespace hespas
