#include "sweep/solve/target.h"

#include <gtest/gtest.h>

#include "sweep/solve/unknown.h"

namespace hespas::sweep {
namespace {

Target Parsed(const std::string& text) {
  const auto target = Target::Parse(text);
  EXPECT_TRUE(target.ok()) << text;
  return target.ok() ? *target : Target{};
}

result::RunResult Measured() {
  result::RunResult run;
  run.step_time = Time(2'000'000);
  run.exposed_communication = Time(100'000);
  run.model_flops_utilisation = 0.4;
  return run;
}

TEST(Target, PercentOfATimeIsOfTheStep) {
  const Target target = Parsed("exposed_communication < 10 %");
  EXPECT_TRUE(target.of_step);
  const auto value = target.ValueOf(Measured());
  ASSERT_TRUE(value);
  EXPECT_DOUBLE_EQ(*value, 0.05);
  EXPECT_TRUE(target.Met(*value));
  EXPECT_FALSE(target.Met(0.1));
  EXPECT_TRUE(Parsed("exposed_communication <= 10 %").Met(0.1));
}

TEST(Target, NamesAndUnitsAreThoseOfASweep) {
  EXPECT_DOUBLE_EQ(Parsed("mfu>40%").bound, 0.4);
  EXPECT_DOUBLE_EQ(Parsed("step_time < 20 ms").bound, 0.02);
  EXPECT_EQ(Parsed("throughput > 1000").column, "units_per_second_per_device");
  EXPECT_DOUBLE_EQ(Parsed("mfu > 50 %").Miss(*Parsed("mfu > 50 %").ValueOf(Measured())), 0.1);
}

TEST(Target, WhatIsNoTargetIsRefused) {
  for (const char* text : {"", "mfu", "mfu = 1", "< 1", "nothing < 1", "mfu <", "mfu < much", "peak_memory < 10 %"}) {
    const auto target = Target::Parse(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.error().kind, &kBadTarget) << text;
  }
}

TEST(Unknown, WritesTheOptionThatSetsIt) {
  EXPECT_EQ(Unknown::Parse("devices")->OptionFor(8), "--retarget 8");
  EXPECT_EQ(Unknown::Parse("bind.b")->OptionFor(4), "--bind b=4");
  EXPECT_EQ(Unknown::Parse("system.bandwidth[1]")->OptionFor(5e10), "--set system.bandwidth[1]=50000000000");
  EXPECT_FALSE(Unknown::Parse("bind."));
  EXPECT_FALSE(Unknown::Parse("system.speed"));
}

}  // namespace
}  // namespace hespas::sweep
