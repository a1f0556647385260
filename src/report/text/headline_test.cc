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

TEST(Headline, SaysStepModelsAndFitInItsOwnLines) {
  result::RunResult run = FourDevices();
  run.program.path = "step.mlir";
  run.device = "X";
  run.estimator = "calibrated";
  run.network_model = "plain";
  run.optimise = "none";
  run.step_time_sigma = Time::Seconds(0.01);
  run.peak_memory = Bytes(2'000'000'000);
  run.memory_capacity = Bytes(1'000'000'000);
  run.fits_in_memory = false;
  const std::string text = HeadlineText(run);
  for (const char* part : {"on 4 x X (no network)", "calibrated estimator, plain network model, --optimise none",
                           "step time                  100 ms  +- 10.0 ms (one standard deviation)",
                           "DOES NOT FIT into 1.00 GB", "tokens/s per device", "per million tokens"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\033[")));
  EXPECT_THAT(HeadlineText(run, true), testing::HasSubstr("\033[1;31mWarning: "));
}

TEST(Headline, DoesNotClaimThatUnsimulatedCommunicationIsHidden) {
  result::RunResult run = FourDevices();
  run.blocks.communication = 3;
  EXPECT_THAT(HeadlineText(run), testing::ContainsRegex("exposed communication +-  no network was simulated for 3"));
  run.network_model = "calibrated";
  EXPECT_THAT(HeadlineText(run), testing::ContainsRegex("exposed communication +0 ps +0.0 %"));
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
