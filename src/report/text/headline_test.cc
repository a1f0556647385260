#include "report/text/headline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas::report {
namespace {

result::RunResult FourDevices() {
  result::RunResult run;
  run.step_time = Time::Seconds(0.1);
  run.npus = 4;
  run.energy_j = 50;
  run.throughput = result::Throughput{.unit = "tokens", .per_step = 1000, .argument = {}};
  return run;
}

TEST(Headline, AMillionTokensCostDeviceTimeAtThePrice) {
  result::RunResult run = FourDevices();
  EXPECT_FALSE(run.cost_per_million());
  EXPECT_EQ(CostLines(run).size(), 1);  // no price, no money
  run.price = Price{.per_hour = 3.6, .currency = "EUR"};
  // 1000 steps of 0.1 s of one device for a million tokens of it: 100 s at 0.001 a second.
  EXPECT_DOUBLE_EQ(*run.cost_per_million(), 0.1);
  EXPECT_DOUBLE_EQ(*run.energy_per_million(), 50000);
  const auto lines = CostLines(run);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].figure, "50.0 kJ");
  EXPECT_EQ(lines[1].figure, "0.1");
  EXPECT_THAT(lines[1].note, testing::StartsWith("EUR per million tokens"));
}

TEST(Headline, WithoutTokensMoneyIsThatOfAStep) {
  result::RunResult run = FourDevices();
  run.throughput.reset();
  run.price = Price{.per_hour = 3600};
  const auto lines = CostLines(run);
  EXPECT_EQ(lines[0].note, "per device and step");
  EXPECT_EQ(lines[1].figure, "0.4");
}

TEST(Headline, TheThreeBestChangesComeFirst) {
  result::RunResult run = FourDevices();
  for (const int64_t ms : {90, 50, 120, 70, 60}) {
    run.what_if.push_back({fmt::format("{} ms", ms), "--set x", Time::Seconds(static_cast<double>(ms) / 1000)});
  }
  const auto best = BestWhatIfs(run);
  ASSERT_EQ(best.size(), 3);
  EXPECT_EQ(best[0].name, "50 ms");
  EXPECT_EQ(best[2].name, "70 ms");
}

}  // namespace
}  // namespace hespas::report
