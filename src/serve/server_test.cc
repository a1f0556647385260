// The closed forms of docs/serving.md: what queues, batches, chunks and pipelines must give exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "serve/cluster.h"
#include "serve/metrics.h"

namespace hespas::serve {
namespace {

LinearStepModel Steps(double a, double b, double c, double p) {
  LinearStepModel model;
  model.a = a;
  model.b = b;
  model.c = c;
  model.p = p;
  return model;
}

struct Case {
  LinearStepModel steps = Steps(5e-3, 2e-5, 1e-8, 2e-5);
  Load load{.input = "100", .output = "200"};
  Policy policy{.scheduler = *FindScheduler("vllm")};
  int64_t replicas = 1;
  Disaggregation apart;
  int64_t warm_up = 0;
};

struct Answer {
  Workload workload;
  Run run;
  Figures figures;
};

Answer Ask(const Case& test) {
  Answer answer;
  auto workload = MakeWorkload(test.load);
  EXPECT_TRUE(workload) << workload.error().message;
  answer.workload = *std::move(workload);
  auto run = Simulate(answer.workload, {.policy = test.policy,
                                        .steps = &test.steps,
                                        .replicas = test.replicas,
                                        .disaggregation = test.apart,
                                        .seed = test.load.seed});
  EXPECT_TRUE(run) << run.error().message;
  answer.run = *std::move(run);
  const int64_t engines = test.apart.prefill > 0 ? test.apart.prefill + test.apart.decode : test.replicas;
  answer.figures = FiguresOf(answer.run, answer.workload, test.warm_up, {}, engines);
  return answer;
}

TEST(Serving, QueueOfOneServerIsPollaczekKhinchine) {
  for (const char* input : {"1000", "uniform:1:2000", "geometric:1000"}) {
    Case test;
    test.steps = Steps(0, 0, 0, 1e-4);
    test.load = {.input = input, .output = "1", .rate = 6, .requests = 200'000};
    test.policy.max_requests = 1;
    test.policy.max_tokens = 1'000'000;
    const Answer answer = Ask(test);
    double service = 0;
    double square = 0;
    for (const Request& r : answer.workload.requests) {
      const double s = 1e-4 * static_cast<double>(r.input);
      service += s / 200'000;
      square += s * s / 200'000;
    }
    const double wait = 6 * square / (2 * (1 - 6 * service));
    EXPECT_NEAR(answer.figures.queue.mean / wait, 1, 0.03) << input;
    EXPECT_NEAR(answer.figures.ttft.mean, answer.figures.queue.mean + service, 1e-9);
  }
}

TEST(Serving, RegularArrivalsBelowCapacityDoNotWait) {
  Case test;
  test.steps = Steps(0, 0, 0, 1e-4);
  test.load = {.input = "1000", .output = "1", .rate = 9.5, .arrivals = "regular", .requests = 1000};
  test.policy.max_requests = 1;
  EXPECT_NEAR(Ask(test).figures.queue.mean, 0, 1e-12);
}

TEST(Serving, OneWaveOfABatch) {
  Case test;
  test.load.clients = 8;
  test.load.requests = 8;
  const Answer answer = Ask(test);
  const double first = 5e-3 + 2e-5 * 8 * 100;
  const double each = 5e-3 + 2e-5 * 8 + 1e-8 * 8 * (100 + 200 / 2.0);
  EXPECT_NEAR(answer.figures.ttft.mean, first, 1e-12);
  EXPECT_NEAR(answer.figures.tpot.mean, each, 1e-12);
  EXPECT_NEAR(answer.figures.tokens_per_s, 8 * 200 / (first + 199 * each), 1e-6);
}

TEST(Serving, PromptsAreCutAtTheBudget) {
  Case test;
  test.load = {.input = "5000", .output = "1", .clients = 1, .requests = 1};
  test.policy.max_tokens = 2048;
  EXPECT_EQ(Ask(test).run.counts.steps, 3);
  // Beside one that decodes, a step holds one token less of the prompt: 2047 + 2047 + 6.
  const Workload workload{
      .requests = {{.arrival = 0, .input = 1, .output = 1000}, {.arrival = 1, .input = 4100, .output = 1}},
      .clients = {}};
  const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->counts.steps, 1000);
  const double mixed = run->records[1].last - run->records[1].admitted;
  double expected = 0;
  for (const double chunk : {2047.0, 2047.0, 6.0}) expected += 5e-3 + 2e-5 + 2e-5 * chunk;
  EXPECT_NEAR(mixed, expected, 3 * 1e-8 * 1000);
}

TEST(Serving, LittlesLawHoldsExactly) {
  Case test;
  test.load = {.input = "uniform:50:150", .output = "geometric:80", .clients = 16, .requests = 2000};
  const Answer answer = Ask(test);
  double sum = 0;
  for (const Record& record : answer.run.records) sum += record.last - record.sent;
  EXPECT_NEAR(sum / answer.run.requests_seconds, 1, 1e-9);
}

TEST(Serving, SaturatesAtTheBound) {
  Case test;
  test.load = {.input = "100", .output = "200", .clients = 256, .requests = 12'800};
  const Answer answer = Ask(test);
  const double step = 5e-3 + 256 * (2e-5 + 1e-8 * 200);
  const double bound = 1 / (2e-5 * 100 + 199 * step / 256);  // the first token comes with the prompt
  EXPECT_LE(answer.figures.requests_per_s, bound * 1.001);
  EXPECT_GE(answer.figures.requests_per_s, bound * 0.98);
}

TEST(Serving, NeverMoreBlocksThanThereAre) {
  Case test;
  test.load = {.input = "100", .output = "200", .clients = 64, .requests = 640};
  test.policy.blocks = 400;
  const Answer needed = Ask(test);
  EXPECT_GT(needed.run.counts.preemptions, 0);
  EXPECT_GT(needed.run.counts.computed_tokens, 640 * (100 + 199.0));
  EXPECT_EQ(needed.figures.answered, 640);
  test.policy.scheduler.admission = Admission::kReserve;
  const Answer reserved = Ask(test);
  EXPECT_EQ(reserved.run.counts.preemptions, 0);
  EXPECT_EQ(reserved.run.counts.computed_tokens, 640 * (100 + 199.0));
  EXPECT_LE(reserved.figures.mean_batch, 400 / 19);
  test.policy.scheduler.preemption = Preemption::kSwap;
  test.policy.scheduler.admission = Admission::kNeeded;
  EXPECT_EQ(Ask(test).run.counts.computed_tokens, 640 * (100 + 199.0));
}

TEST(Serving, CachedPrefixesAreNotComputed) {
  Case test;
  test.load = {.input = "1000", .output = "1", .clients = 1, .requests = 10};
  test.policy.prefix_hit = 0.5;
  EXPECT_EQ(Ask(test).run.counts.computed_tokens, 10 * 512);
  test.policy.prefix_hit = 1;
  EXPECT_EQ(Ask(test).run.counts.computed_tokens, 10);
}

TEST(Serving, SpeculationEmitsOneToAllOfItsDrafts) {
  Case test;
  test.load = {.input = "100", .output = "201", .clients = 1, .requests = 5};
  test.policy.speculation = {.drafts = 3, .acceptance = 0};
  EXPECT_EQ(Ask(test).run.counts.steps, 5 * 201);
  test.policy.speculation.acceptance = 1;
  EXPECT_EQ(Ask(test).run.counts.steps, 5 * 51);
  test.policy.speculation.acceptance = 0.6;
  test.load.requests = 500;
  const double each = (1 - std::pow(0.6, 4)) / (1 - 0.6);
  EXPECT_NEAR(500 * 200.0 / static_cast<double>(Ask(test).run.counts.steps - 500), each, 0.03);
}

TEST(Serving, DisaggregatedPromptsAreAQueueOfTheirOwn) {
  Case test;
  test.steps = Steps(1e-3, 0, 0, 1e-4);
  test.load = {.input = "1000", .output = "50", .rate = 6, .requests = 20'000};
  test.policy.max_tokens = 1000;
  test.apart = {.prefill = 1, .decode = 1};
  const Answer answer = Ask(test);
  const double service = 1e-3 + 0.1;
  EXPECT_NEAR(answer.figures.ttft.mean, service + 6 * service * service / (2 * (1 - 6 * service)), 0.012);
  EXPECT_LE(answer.figures.tpot.p99, 1e-3 * 1.03);
  test.load.arrivals = "regular";
  const Answer before = Ask(test);
  test.apart.transfer_s_per_token = 1e-6;
  const Answer once = Ask(test);
  test.apart.transfer_s_per_token = 2e-6;
  const Answer twice = Ask(test);
  EXPECT_NEAR(twice.run.records[0].last - once.run.records[0].last, 1000 * 1e-6, 1e-12);
  EXPECT_EQ(before.figures.ttft.mean, twice.figures.ttft.mean);
}

// A prefix is shared where prompts are computed; the engine that decodes holds 300 tokens of its own in 288.
TEST(Serving, DisaggregatedEnginesRefuseWhatTheyCannotHold) {
  Case test;
  test.load = {.input = "100", .output = "200", .rate = 1, .requests = 3};
  test.policy.block = 18;
  test.policy.blocks = 16;
  test.policy.prefix_hit = 1;
  test.apart = {.prefill = 1, .decode = 1, .transfer_s_per_token = 1e-6};
  EXPECT_EQ(Ask(test).run.refused, 3);
  test.policy.blocks = 17;
  EXPECT_EQ(Ask(test).figures.answered, 3);
}

TEST(Serving, PipelineStagesAreFilledByMicroBatches) {
  Case test;
  test.steps = Steps(4e-3, 0, 0, 0);
  test.policy.stages = 4;
  test.load = {.input = "10", .output = "101", .clients = 1, .requests = 1};
  EXPECT_NEAR(Ask(test).figures.tpot.mean, 4e-3, 1e-12);
  test.load.clients = 4;
  test.load.requests = 4;
  const Answer full = Ask(test);
  EXPECT_NEAR(full.figures.tpot.mean, 4e-3, 1e-12);
  EXPECT_NEAR(full.run.wall, 101 * 4e-3 + 3e-3, 1e-9);
}

// Each stage has a lane of its own with its share of requests and blocks, whatever waits.
TEST(Serving, LanesShareWhatIsSentAtOnce) {
  Case test;
  test.steps = Steps(4e-3, 0, 0, 1e-5);
  test.policy.stages = 2;
  test.policy.blocks = 400;
  test.load = {.input = "100", .output = "60", .rate = INFINITY, .requests = 2000};
  test.policy.scheduler.admission = Admission::kReserve;
  const Answer answer = Ask(test);
  EXPECT_NEAR(answer.figures.mean_batch, 200 / 10, 1);  // of ten blocks each
  EXPECT_EQ(answer.run.counts.preemptions, 0);
  EXPECT_GT(answer.figures.utilisation, 0.95);
}

TEST(Serving, ReplicasShareTheRate) {
  Case one;
  one.load = {.input = "100", .output = "20", .rate = 4, .arrivals = "regular", .requests = 400};
  Case four = one;
  four.load.rate = 16;
  four.load.requests = 1600;
  four.replicas = 4;
  EXPECT_EQ(Ask(one).figures.ttft.p99, Ask(four).figures.ttft.p99);
}

TEST(Serving, StaticBatchesWaitForTheirLongestRequest) {
  Case test;
  test.policy.scheduler = *FindScheduler("static");
  test.policy.max_requests = 4;
  const Workload workload{.requests = {{.input = 10, .output = 100},
                                       {.input = 10, .output = 5},
                                       {.input = 10, .output = 5},
                                       {.input = 10, .output = 5},
                                       {.input = 10, .output = 5}},
                          .clients = {}};
  const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->records[4].admitted, run->records[0].last);
}

TEST(Serving, PromptsFirstStopsDecodes) {
  Case test;
  test.policy.scheduler = *FindScheduler("sglang");
  const Workload workload{.requests = {{.input = 10, .output = 100}, {.arrival = 0.02, .input = 5000, .output = 2}},
                          .clients = {}};
  const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
  ASSERT_TRUE(run);
  const double most = std::accumulate(run->gaps.begin(), run->gaps.end(), 0.0,
                                      [](double a, const Gap& gap) { return std::max<double>(a, gap.seconds); });
  EXPECT_NEAR(most, 5e-3 + 2e-5 * 5000 + 5e-3 + 2 * 2e-5, 1e-4);
}

// A prompt that gives up its blocks and starts again at once would keep the decodes that could free some from running.
TEST(Serving, PromptsThatDoNotFitLetDecodesRun) {
  Case test;
  test.policy.scheduler = *FindScheduler("sglang");
  test.policy.scheduler.admission = Admission::kNeeded;
  test.policy.max_tokens = 1;
  test.policy.max_requests = 8;
  test.policy.block = 64;
  test.policy.blocks = 30;
  const Workload workload{.requests = {{.arrival = 0, .input = 900, .output = 5},
                                       {.arrival = 0.01, .input = 30, .output = 200},
                                       {.arrival = 0.5, .input = 1500, .output = 200},
                                       {.arrival = 5, .input = 1020, .output = 2}},
                          .clients = {}};
  const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->refused, 0);
  EXPECT_EQ(FiguresOf(*run, workload, 0, {}, 1).answered, 4);
  EXPECT_GT(run->counts.preemptions, 0);
}

// The last of a static batch needs blocks of the one that is done.
TEST(Serving, StaticBatchesGoOnWhereTheLastLacksABlock) {
  Case test;
  test.policy.scheduler = *FindScheduler("static");
  test.policy.scheduler.admission = Admission::kNeeded;
  test.policy.block = 1;
  test.policy.blocks = 10;
  const Workload workload{.requests = {{.input = 2, .output = 2}, {.input = 3, .output = 7}}, .clients = {}};
  const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
  ASSERT_TRUE(run);
  EXPECT_EQ(FiguresOf(*run, workload, 0, {}, 1).answered, 2);
  EXPECT_EQ(run->counts.preemptions, 1);
}

TEST(Serving, DraftsTakeNoBlocksBeyondTheAnswer) {
  Case test;
  test.policy.speculation = {.drafts = 3, .acceptance = 0.5};
  test.policy.blocks = 10;
  for (const auto admission : {Admission::kNeeded, Admission::kReserve}) {
    test.policy.scheduler.admission = admission;
    const Workload workload{.requests = {{.input = 150, .output = 10}}, .clients = {}};
    const auto run = Simulate(workload, {.policy = test.policy, .steps = &test.steps});
    ASSERT_TRUE(run);
    EXPECT_EQ(run->counts.preemptions, 0);
    EXPECT_EQ(FiguresOf(*run, workload, 0, {}, 1).answered, 1);
  }
}

TEST(Serving, EqualSeedsGiveEqualBytes) {
  Case test;
  test.load = {
      .input = "lognormal:857:1.1", .output = "geometric:200", .rate = 20, .arrivals = "gamma:0.5", .requests = 500};
  const Answer a = Ask(test);
  const Answer b = Ask(test);
  EXPECT_EQ(a.figures.ttft.mean, b.figures.ttft.mean);
  EXPECT_EQ(a.run.wall, b.run.wall);
}

TEST(Serving, WindowsBoundTheCacheOfARequest) {
  // Five of six layers keep 1,024 tokens: of 7,024 tokens the cache holds 1,024 and a sixth of the others.
  const CacheWindow window{.share = 5.0 / 6, .tokens = 1024};
  EXPECT_EQ(window.Kept(1000), 1000);
  EXPECT_EQ(window.Kept(7024), 1024 + 1000);
  EXPECT_EQ(CacheWindow{}.Kept(7024), 7024);
}

TEST(Serving, PatienceEndsARunWhoseLimitsAreMissed) {
  const LinearStepModel steps = Steps(1e-2, 0, 0, 0);
  const Load load{.input = "10", .output = "100", .rate = 10, .arrivals = "regular", .requests = 500};
  const auto workload = MakeWorkload(load);
  ASSERT_TRUE(workload);
  ServerOptions options{.policy = {.scheduler = *FindScheduler("vllm")}, .steps = &steps};
  options.patience = {.tpot_s = 1.5e-2, .misses = 5};
  const auto kept = Simulate(*workload, options);
  options.patience.tpot_s = 0.5e-2;
  const auto missed = Simulate(*workload, options);
  ASSERT_TRUE(kept && missed);
  EXPECT_FALSE(kept->given_up);
  EXPECT_TRUE(missed->given_up);
  EXPECT_LT(missed->counts.steps, kept->counts.steps / 4);
}

TEST(Serving, PatienceDoesNotWaitForAnswersThatBeginTooLate) {
  const LinearStepModel steps = Steps(1e-2, 0, 0, 0);
  const Load load{.input = "10", .output = "100", .rate = 10, .arrivals = "regular", .requests = 500};
  const auto workload = MakeWorkload(load);
  ASSERT_TRUE(workload);
  ServerOptions options{.policy = {.scheduler = *FindScheduler("vllm"), .max_requests = 1}, .steps = &steps};
  options.patience = {.ttft_s = 0.5, .misses = 5};
  const auto run = Simulate(*workload, options);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->given_up);
  EXPECT_LT(run->counts.steps, 130);  // of 100 a request: the second one has begun, five wait
}

TEST(Metrics, PercentilesInterpolate) {
  const Distribution d = DistributionOf({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(d.p50, 3);
  EXPECT_DOUBLE_EQ(d.p90, 4.6);
  EXPECT_DOUBLE_EQ(d.mean, 3);
}

}  // namespace
}  // namespace hespas::serve
