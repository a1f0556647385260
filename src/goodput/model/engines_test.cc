// The closed form and the simulation answer the same question: do they agree, and where is the best interval?
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "goodput/model/closed_form.h"
#include "goodput/model/simulation.h"

namespace hespas::goodput {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;

// A job of 256 nodes that fails every eight hours.
Plan Base() {
  Plan plan;
  plan.work = 60 * kDay;
  plan.failures = {.rate = 1 / (8 * kHour), .shape = 1, .hardware = 0.8, .deep = 0};
  plan.recovery = {.detection = 300, .restart = 360, .replace = 180, .load_fast = 40, .load_deep = 200};
  plan.checkpoint = {.interval = 1200, .stall = 25};
  plan.pool = {.nodes = 256, .spares = 256, .repair = kDay, .least = 1, .rejoin = 300};
  plan.pauses.start = 600;
  return plan;
}

struct Case {
  const char* name;
  std::function<void(Plan&)> change;
};

const Case kCases[] = {
    {"synchronous", [](Plan&) {}},
    {"asynchronous", [](Plan& p) { p.checkpoint.stall = 5, p.checkpoint.lag = 400; }},
    {"short mtbf", [](Plan& p) { p.failures.rate = 1 / (1.5 * kHour); }},
    {"long interval", [](Plan& p) { p.checkpoint.interval = 3 * kHour; }},
    {"weibull 0.7", [](Plan& p) { p.failures.shape = 0.7; }},
    {"weibull 1.5", [](Plan& p) { p.failures.shape = 1.5; }},
    {"tiers", [](Plan& p) { p.checkpoint.tiers = true, p.checkpoint.persist_every = 6, p.failures.deep = 0.2; }},
    {"tiers with lag",
     [](Plan& p) {
       p.checkpoint.tiers = true, p.checkpoint.persist_every = 4, p.failures.deep = 0.1;
       p.checkpoint.lag = 30, p.checkpoint.persist_lag = 900;
     }},
    {"few spares", [](Plan& p) { p.pool.spares = 2; }},
    {"no spare", [](Plan& p) { p.pool.spares = 0, p.pool.repair = 4 * kHour; }},
    {"elastic", [](Plan& p) { p.pool.spares = 1, p.pool.elastic = true, p.pool.least = 200; }},
    {"elastic, half of few nodes",
     [](Plan& p) { p.pool = {.nodes = 8, .spares = 0, .repair = kDay, .elastic = true, .least = 1, .rejoin = 300}; }},
    {"evaluation", [](Plan& p) { p.pauses.evaluation_interval = 2 * kHour, p.pauses.evaluation = 400; }},
    {"slow nodes",
     [](Plan& p) { p.pauses.slow_rate = 1 / kDay, p.pauses.slow_factor = 1.5, p.pauses.slow_time = 2 * kHour; }},
};

TEST(Engines, AgreeWithinOnePercent) {
  for (const Case& test : kCases) {
    Plan plan = Base();
    test.change(plan);
    ASSERT_TRUE(Check(plan).ok()) << test.name;
    const auto runs = Simulate(plan, {.runs = 400, .seed = 7});
    ASSERT_TRUE(runs.ok()) << test.name;
    EXPECT_NEAR(MeanWall(*runs) / Expected(plan).wall, 1, 0.01) << test.name;
  }
}

TEST(Engines, TheSimulationConverges) {
  // The mean of n runs lies within four standard errors of the expectation, and these shrink with the root of n.
  const Plan plan = Base();
  const double expected = Expected(plan).wall;
  double last = 0;
  for (const int64_t count : {100, 400, 1600, 6400}) {
    const auto runs = Simulate(plan, {.runs = count, .seed = 3});
    ASSERT_TRUE(runs.ok());
    const double mean = MeanWall(*runs);
    double variance = 0;
    for (const SimulatedRun& run : *runs) variance += std::pow(run.seconds.wall() - mean, 2);
    const double error = std::sqrt(variance) / static_cast<double>(count);
    EXPECT_LT(std::fabs(mean - expected), 4 * error + 0.0005 * expected) << count;
    if (last > 0) {
      EXPECT_NEAR(last / error, 2, 0.3);
    }
    last = error;
  }
}

TEST(Engines, TheSecondsOfARunAddUp) {
  Plan plan = Base();
  plan.pool.spares = 1;
  plan.pauses.slow_rate = 1 / kDay, plan.pauses.slow_factor = 1.5, plan.pauses.slow_time = kHour;
  const auto runs = Simulate(plan, {.runs = 20});
  ASSERT_TRUE(runs.ok());
  for (const SimulatedRun& run : *runs) {
    EXPECT_DOUBLE_EQ(run.seconds.work, plan.work);
    EXPECT_GE(run.seconds.lost, 0);
    const double exposed = run.seconds.wall() - run.seconds.waiting;  // a waiting job does not fail
    EXPECT_NEAR(static_cast<double>(run.failures), exposed * plan.failures.rate, 60);
  }
}

TEST(Engines, EqualSeedsGiveEqualRuns) {
  const auto a = Simulate(Base(), {.runs = 5, .seed = 11});
  const auto b = Simulate(Base(), {.runs = 5, .seed = 11});
  const auto c = Simulate(Base(), {.runs = 5, .seed = 12});
  EXPECT_EQ(MeanWall(*a), MeanWall(*b));
  EXPECT_NE(MeanWall(*a), MeanWall(*c));
}

TEST(Interval, TheSimulationFindsDalys) {
  for (const double stall : {10.0, 60.0}) {
    Plan plan = Base();
    plan.checkpoint.stall = stall;
    const double daly = DalyInterval(stall, plan.mtbf());
    const auto found = SimulatedBestInterval(plan, {.runs = 60, .seed = 5}, daly / 8, daly * 8);
    ASSERT_TRUE(found.ok());
    EXPECT_NEAR(*found / daly, 1, 0.15);
    // The curve is flat there: what counts is that its run is as short.
    plan.checkpoint.interval = *found;
    const double at_found = Expected(plan).wall;
    plan.checkpoint.interval = daly;
    EXPECT_NEAR(at_found / Expected(plan).wall, 1, 0.001);
    EXPECT_NEAR(BestInterval(plan) / daly, 1, 0.01);
    EXPECT_NEAR(YoungInterval(stall, plan.mtbf()) / daly, 1, 0.05);
  }
}

TEST(ClosedForm, IsDalysForOneTier) {
  // Daly (2006): wall = mtbf exp(restart / mtbf) (exp((interval + cost) / mtbf) - 1) work / interval.
  Plan plan = Base();
  plan.failures.hardware = 0;
  plan.pauses.start = 0;
  const double m = plan.mtbf();
  const double daly = m * std::exp(plan.MeanRecovery() / m) * std::expm1((1200.0 + 25) / m) * plan.work / 1200;
  EXPECT_NEAR(Expected(plan).wall / daly, 1, 1e-12);
}

TEST(ClosedForm, TiersWithoutDeepFailuresAreOneTier) {
  Plan plan = Base();
  const double one = Expected(plan).wall;
  plan.checkpoint.tiers = true;
  plan.checkpoint.persist_every = 5;
  EXPECT_NEAR(Expected(plan).wall / one, 1, 1e-12);
}

TEST(ClosedForm, RenewalSumIsTheExponentialOne) {
  Plan plan = Base();
  const double exponential = Expected(plan).wall;
  plan.failures.shape = 1 + 1e-9;
  EXPECT_NEAR(Expected(plan).wall / exponential, 1, 1e-6);
}

TEST(ClosedForm, ErlangLoss) {
  EXPECT_DOUBLE_EQ(ErlangB(1, 1), 0.5);
  EXPECT_NEAR(ErlangB(2, 3), (8.0 / 6) / (1 + 2 + 2 + 8.0 / 6), 1e-12);
  EXPECT_EQ(ErlangB(1e-3, 10'000), 0);
}

TEST(Plan, RefusesNonsense) {
  const Case bad[] = {
      {"no failures", [](Plan& p) { p.failures.rate = 0; }},
      {"negative rate", [](Plan& p) { p.failures.rate = -1; }},
      {"infinite rate", [](Plan& p) { p.failures.rate = std::numeric_limits<double>::infinity(); }},
      {"no number", [](Plan& p) { p.work = std::nan(""); }},
      {"long checkpoint", [](Plan& p) { p.checkpoint.stall = p.checkpoint.interval; }},
      {"long write", [](Plan& p) { p.checkpoint.lag = 2 * p.checkpoint.interval; }},
      {"long write to storage",
       [](Plan& p) { p.checkpoint.tiers = true, p.checkpoint.persist_every = 2, p.checkpoint.persist_lag = kHour; }},
      {"spares", [](Plan& p) { p.pool.spares = 257; }},
      {"negative spares", [](Plan& p) { p.pool.spares = -1; }},
      {"least", [](Plan& p) { p.pool.least = 257; }},
      {"fraction", [](Plan& p) { p.failures.deep = 1.5; }},
      {"evaluation", [](Plan& p) { p.pauses.evaluation = 5; }},
      {"faster slow node", [](Plan& p) { p.pauses.slow_factor = 0.5; }},
      {"no progress", [](Plan& p) { p.failures.rate = 1.0 / 60; }}};
  for (const Case& test : bad) {
    Plan plan = Base();
    test.change(plan);
    const auto runs = Simulate(plan, {.runs = 1});
    ASSERT_FALSE(runs.ok()) << test.name;
    EXPECT_EQ(runs.error().kind->code, kBadPlan.code) << test.name;
    EXPECT_FALSE(runs.error().help.empty()) << test.name;
  }
  for (const SimulationOptions& options : {SimulationOptions{.runs = 0}, SimulationOptions{.runs = 2'000'000},
                                           SimulationOptions{.runs = 1, .rate_sigma = -1}}) {
    EXPECT_EQ(Simulate(Base(), options).error().kind->code, kBadRuns.code);
  }
}

}  // namespace
}  // namespace hespas::goodput
