#include "pjrt/timing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pjrt/arguments.h"
#include "pjrt/plugin.h"

namespace hespas::pjrt {
namespace {

TEST(RobustMean, OutliersDoNotCount) {
  const Timing timing = RobustMean({1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 9.0});
  EXPECT_NEAR(timing.seconds, 1.0, 1e-12);
  EXPECT_EQ(timing.repeats, 7);
  const Timing clean = RobustMean({1.0, 2.0, 3.0, 4.0});
  EXPECT_DOUBLE_EQ(clean.seconds, 2.5);
  // 1.96 * s / sqrt(n) with s^2 = 5/3
  EXPECT_NEAR(clean.half_width, 1.96 * std::sqrt(5.0 / 3.0) / 2, 1e-12);
}

TEST(Repeat, StopsWhenGoodEnoughOrSpent) {
  int calls = 0;
  const auto alone = [](double seconds) { return Repetition{.seconds = seconds, .spent_s = seconds}; };
  const auto steady = Repeat({}, [&]() -> Result<Repetition> { return alone(1e-3 + 1e-6 * (++calls % 2)); });
  ASSERT_TRUE(steady.ok());
  EXPECT_EQ(calls, 5);
  calls = 0;
  const auto noise = [&] { return 0.01 + 1e-4 * (37 * ++calls % 101); };
  const auto noisy = Repeat({.limit_s = 1}, [&]() -> Result<Repetition> { return alone(noise()); });
  ASSERT_TRUE(noisy.ok());
  EXPECT_NEAR(noisy->seconds, 0.015, 1e-3);
  EXPECT_GT(calls, 30);  // a spread of a fifth takes many repeats
  EXPECT_LE(calls, 68);  // a second's worth
  calls = 0;
  const auto cold =
      Repeat({.limit_s = 1}, [&]() -> Result<Repetition> { return Repetition{.seconds = noise(), .spent_s = 0.06}; });
  ASSERT_TRUE(cold.ok());
  EXPECT_EQ(calls, 17);  // emptying caches counts: 16 * 0.06 s are not yet a second
  const auto failed = Repeat({}, []() -> Result<Repetition> { return MakeError(kPluginFailed, "no"); });
  EXPECT_FALSE(failed.ok());
}

TEST(ValuesOf, AreSmallAndPositive) {
  const auto floats = ValuesOf({.element = "f32", .shape = {3, 5}});
  ASSERT_TRUE(floats.ok());
  ASSERT_EQ(floats->bytes.size(), 60u);
  const auto* values = reinterpret_cast<const float*>(floats->bytes.data());
  for (int i = 0; i < 15; ++i) {
    EXPECT_GE(values[i], 0.5f);
    EXPECT_LT(values[i], 2.0f);
  }
  const auto integers = ValuesOf({.element = "i32", .shape = {2}});
  ASSERT_TRUE(integers.ok());
  EXPECT_EQ(integers->bytes, std::string("\1\0\0\0\1\0\0\0", 8));
  EXPECT_FALSE(ValuesOf({.element = "i4", .shape = {2}}).ok());
}

}  // namespace
}  // namespace hespas::pjrt
