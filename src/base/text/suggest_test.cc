#include "base/text/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace hespas {
namespace {

const std::vector<std::string> kNames = {"all_reduce", "all_gather", "H100_80GB", "H200_141GB", "peak_flops"};

TEST(Nearest, FindsMisspellings) {
  EXPECT_EQ(Nearest("all_reduec", kNames), "all_reduce");
  EXPECT_EQ(Nearest("h100_80g", kNames), "H100_80GB");
  EXPECT_EQ(Nearest("peakflops", kNames), "peak_flops");
}

TEST(Nearest, CompletesPrefixes) { EXPECT_EQ(Nearest("H200", kNames), "H200_141GB"); }

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Nearest("banana", kNames), std::nullopt);
  EXPECT_EQ(Nearest("x", {}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), kNames), std::nullopt);
}

TEST(DidYouMean, FallsBackToTheOtherText) {
  EXPECT_EQ(DidYouMean("all_gathr", kNames), "did you mean `all_gather`?");
  EXPECT_EQ(DidYouMean("banana", kNames, "see the list"), "see the list");
}

}  // namespace
}  // namespace hespas
