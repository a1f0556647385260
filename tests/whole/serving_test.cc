// The serving simulation against closed forms of queueing theory, and against hand-made schedules.
#include "serve/serving.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hespas::driver {
namespace {

// One request at a time; each decode step takes a second, prefill nothing.
serve::ServingEstimate OneByOne(serve::ServingOptions options) {
  serve::StepTimes decode;
  decode.Add(1, 1, 1.0);
  options.max_batch = 1;
  options.requests = 400'000;
  options.warm_up = 1'000;
  const auto estimate = serve::Serve({}, decode, options);
  EXPECT_TRUE(estimate.ok());
  return estimate.ok() ? *estimate : serve::ServingEstimate();
}

// Mean wait of M/G/1 (Pollaczek 1930, Khinchine 1932): lambda E[S^2] / (2 (1 - rho)).
double MeanWait(double rate, double mean, double second_moment) {
  return rate * second_moment / (2 * (1 - rate * mean));
}

TEST(Serving, ConstantServiceIsMD1) {
  for (const double rate : {0.3, 0.5, 0.8}) {
    const auto estimate = OneByOne({.rate = rate, .output = "1"});
    const double wait = MeanWait(rate, 1, 1);
    EXPECT_NEAR(estimate.wait.mean, wait, 0.03 * wait) << rate;
    EXPECT_NEAR(estimate.utilisation, rate, 0.01) << rate;
  }
}

TEST(Serving, ExponentialServiceIsMM1) {
  const auto estimate = OneByOne({.rate = 0.5, .output = "exponential:1"});
  EXPECT_NEAR(estimate.wait.mean, MeanWait(0.5, 1, 2), 0.03);
  // Sojourn times of M/M/1 are exponential: the median is ln 2 of the mean 1 / (mu - lambda).
  EXPECT_NEAR(estimate.latency.p50, 2 * std::log(2.0), 0.05);
}

TEST(Serving, OtherServiceIsMG1) {
  // Whole numbers from 1 to 9: mean 5, second moment 285 / 9.
  const auto uniform = OneByOne({.rate = 0.1, .output = "uniform:1:9"});
  const double wait = MeanWait(0.1, 5, 285.0 / 9);
  EXPECT_NEAR(uniform.wait.mean, wait, 0.03 * wait);
  // Geometric with mean 4: second moment (2 - p) / p^2.
  const auto geometric = OneByOne({.rate = 0.125, .output = "geometric:4"});
  const double p = 0.25;
  const double geometric_wait = MeanWait(0.125, 4, (2 - p) / (p * p));
  EXPECT_NEAR(geometric.wait.mean, geometric_wait, 0.03 * geometric_wait);
}

TEST(Serving, RegularArrivalsBelowCapacityNeverWait) {
  const auto estimate = OneByOne({.rate = 0.5, .regular = true, .output = "1"});
  EXPECT_EQ(estimate.wait.p99, 0);
  EXPECT_DOUBLE_EQ(estimate.latency.mean, 1);
}

TEST(Serving, BatchesShareSteps) {
  // Four requests at about the same time, four tokens each, steps of one second whatever the batch: the first is
  // alone for one step, then all go together.
  serve::StepTimes decode;
  decode.Add(1, 1, 1.0);
  const auto estimate =
      serve::Serve({}, decode, {.rate = 1000, .regular = true, .output = "4", .max_batch = 8, .requests = 4});
  ASSERT_TRUE(estimate.ok());
  EXPECT_NEAR(estimate->latency.p50, 5, 0.01);
  EXPECT_NEAR(estimate->mean_batch, 16.0 / 5, 1e-9);
}

TEST(Serving, StepTimesAreInterpolatedInBatchAndContext) {
  serve::StepTimes times;
  times.Add(1, 100, 1);
  times.Add(1, 200, 2);
  times.Add(3, 100, 3);
  times.Add(3, 200, 6);
  EXPECT_DOUBLE_EQ(times.At(1, 150), 1.5);
  EXPECT_DOUBLE_EQ(times.At(2, 150), 3.0);
  EXPECT_DOUBLE_EQ(times.At(9, 999), 6.0);
  EXPECT_DOUBLE_EQ(times.At(1, 1), 1.0);
}

TEST(Serving, ImpossibleOptionsAreRefused) {
  serve::StepTimes decode;
  decode.Add(1, 1, 1.0);
  EXPECT_FALSE(serve::Serve({}, decode, {.rate = 0}).ok());
  EXPECT_FALSE(serve::Serve({}, decode, {.output = "uniform:9:1"}).ok());
  EXPECT_FALSE(serve::Serve({}, decode, {.max_batch = 0}).ok());
  EXPECT_FALSE(serve::Serve({}, {}, {}).ok());
}

}  // namespace
}  // namespace hespas::driver
