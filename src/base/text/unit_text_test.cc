#include "base/text/unit_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas {
namespace {

using ::testing::HasSubstr;

double Value(std::string_view text, Unit unit) {
  const auto value = ParseQuantity(text, unit);
  EXPECT_TRUE(value) << text;
  return value ? *value : -1;
}

TEST(ParseQuantity, ReadsWhatPeopleWrite) {
  EXPECT_EQ(Value("3.35 TB/s", Unit::kBytesPerSecond), 3.35e12);
  EXPECT_EQ(Value("400 Gbit/s", Unit::kBytesPerSecond), 50e9);
  EXPECT_EQ(Value("400Gbps", Unit::kBytesPerSecond), 50e9);
  EXPECT_EQ(Value("80 GB", Unit::kBytes), 80e9);
  EXPECT_EQ(Value("40 MiB", Unit::kBytes), 41'943'040);
  EXPECT_EQ(Value(" 312 TFLOP/s ", Unit::kFlopsPerSecond), 312e12);
  EXPECT_EQ(Value("624 TOPS", Unit::kFlopsPerSecond), 624e12);
  EXPECT_EQ(Value("1.41 GHz", Unit::kHertz), 1.41e9);
  EXPECT_EQ(Value("400 W", Unit::kWatts), 400);
  EXPECT_EQ(Value("1e12", Unit::kFlopsPerSecond), 1e12);
}

TEST(ParseQuantity, DecimalPrefixesAreExact) {
  EXPECT_EQ(Value("989.4 TFLOP/s", Unit::kFlopsPerSecond), 989.4e12);
  EXPECT_EQ(Value("0.584 TFLOP/s", Unit::kFlopsPerSecond), 0.584e12);
  EXPECT_EQ(Value("1.1 ns", Unit::kSeconds), 1.1e-9);
}

TEST(ParseQuantity, RefusesOtherThings) {
  for (const char* text : {"", "fast", "1 XB/s", "1 TB", "1 TB/s/s", "nan", "inf", "1e999"}) {
    const auto value = ParseQuantity(text, Unit::kBytesPerSecond);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().kind->code, "E0005");
    EXPECT_THAT(value.error().help, HasSubstr("TB/s"));
  }
}

}  // namespace
}  // namespace hespas
