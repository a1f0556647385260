#include "base/price.h"

#include <gtest/gtest.h>

namespace hespas {
namespace {

TEST(Price, IsUsdUnlessItSaysSo) {
  const auto plain = ParsePrice("2.5");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->per_hour, 2.5);
  EXPECT_EQ(plain->currency, "USD");
  const auto euro = ParsePrice("2.19 EUR");
  ASSERT_TRUE(euro.ok());
  EXPECT_EQ(euro->per_hour, 2.19);
  EXPECT_EQ(euro->currency, "EUR");
}

TEST(Price, RefusesWhatIsNone) {
  for (const char* text : {"", "cheap", "-1", "nan", "inf", "2 dollars", "2 eur", "2  EUR", "EUR 2"}) {
    const auto price = ParsePrice(text);
    ASSERT_FALSE(price.ok()) << text;
    EXPECT_EQ(price.error().kind, &kBadPrice) << text;
  }
}

TEST(Price, CountsDeviceTime) {
  EXPECT_DOUBLE_EQ(CostOf({.per_hour = 3}, 3600), 3);
  EXPECT_DOUBLE_EQ(CostOf({.per_hour = 3}, 8 * 1.2), 0.008);
}

}  // namespace
}  // namespace hespas
