#include "base/units.h"

#include <gtest/gtest.h>

namespace hespas {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(Units, QuotientsRoundToThePicosecond) {
  EXPECT_EQ((Bytes(4096) / BytesPerSecond{3.35e12}).value, 1223);  // 1222.69 ps
  EXPECT_EQ((Flops(312'000'000) / FlopsPerSecond{312e12}), Time(1'000'000));
}

TEST(Units, QuotientsSaturateAndNeverTrap) {
  EXPECT_EQ((Bytes(kMost) / BytesPerSecond{1e-9}).value, kMost);
  EXPECT_EQ((Bytes(1) / BytesPerSecond{0}).value, kMost);
  EXPECT_EQ((Bytes(0) / BytesPerSecond{0}).value, 0);
}

TEST(Units, SumsAndProductsSaturate) {
  EXPECT_EQ((Time(kMost) + Time(1)).value, kMost);
  EXPECT_EQ((Time(kLeast) + Time(-1)).value, kLeast);
  EXPECT_EQ((int64_t{3} * Time(kMost)).value, kMost);
  EXPECT_EQ((Time(kMost) * int64_t{-3}).value, kLeast);
}

TEST(Units, DifferencesSaturate) {
  EXPECT_EQ((Time(0) - Time(kLeast)).value, kMost);
  EXPECT_EQ((Time(-2) - Time(kMost)).value, kLeast);
  EXPECT_EQ((Time(-1) - Time(kLeast)).value, kMost);
  EXPECT_EQ((Time(5) - Time(7)).value, -2);
}

TEST(Units, SecondsConvertBothWays) {
  EXPECT_EQ(Time::Seconds(1.5e-6), Time(1'500'000));
  EXPECT_EQ(Time::Nanoseconds(7), Time(7000));
  EXPECT_DOUBLE_EQ(Time(2'000'000'000'000).seconds(), 2.0);
  EXPECT_EQ(Time::Seconds(std::numeric_limits<double>::quiet_NaN()), Time(0));
  EXPECT_EQ(Time::Seconds(std::numeric_limits<double>::infinity()).value, kMost);
}

}  // namespace
}  // namespace hespas
