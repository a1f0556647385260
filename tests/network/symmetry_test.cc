// One rank in the place of all against every rank by itself, over generated cases.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "case_file.h"
#include "random_case.h"

namespace hespas::network_test {
namespace {

Result<result::SimResult> RunWith(const Case& built, simulate::Engine engine) {
  simulate::SimulateOptions options = built.options;
  options.engine = engine;
  Diagnostics diagnostics;
  return simulate::Simulate(built.trace, built.system, options, diagnostics);
}

// HESPAS_SYMMETRY_CASES: how many cases of each kind; by hand and in the long tests 10,000.
uint64_t Cases() {
  const char* asked = std::getenv("HESPAS_SYMMETRY_CASES");
  return asked != nullptr ? std::stoull(asked) : 1000;
}

// Compares as many cases of `make_case`; the share that was answered by the method.
double Compare(nlohmann::json (*make_case)(uint64_t), const char* method) {
  uint64_t by_symmetry = 0;
  int failures = 0;
  for (uint64_t seed = 0; seed < Cases() && failures < 10; ++seed) {
    const nlohmann::json input = make_case(seed);
    const Result<Case> built = BuildCase(input);
    EXPECT_TRUE(built.ok()) << built.error().message << input.dump();
    const auto fast = RunWith(*built, simulate::Engine::kAuto);
    const auto full = RunWith(*built, simulate::Engine::kEvents);
    EXPECT_EQ(fast.ok(), full.ok()) << input.dump();
    if (!fast.ok() || !full.ok()) continue;
    by_symmetry += fast->method.starts_with(method) ? 1 : 0;
    if (Answer(*fast) == Answer(*full)) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << Answer(*fast).dump().substr(0, 400) << "\ninstead of\n"
                  << Answer(*full).dump().substr(0, 400) << "\n"
                  << input.dump();
  }
  return static_cast<double>(by_symmetry) / static_cast<double>(Cases());
}

TEST(Symmetry, EqualsTheEventEngineOnGeneratedCases) { EXPECT_GT(Compare(SymmetricCase, "symmetry"), 0.25); }

TEST(Symmetry, EqualsTheEventEngineWithGroups) { EXPECT_GT(Compare(GroupCase, "symmetry"), 0.1); }

TEST(Symmetry, EqualsTheEventEngineWithStages) { EXPECT_GT(Compare(PipelineCase, "symmetry of "), 0.1); }

// Two stages of four NPUs; each NPU of the first sends to one of the second.
nlohmann::json TwoStages() {
  nlohmann::json out = {{"be", "U"},
                        {"net", {{"topo", {"Switch"}}, {"npus", {8}}, {"bw", {50.0}}, {"lat", {500.0}}}},
                        {"sys",
                         {{"scheduling-policy", "LIFO"},
                          {"preferred-dataset-splits", 1},
                          {"local-mem-bw", 1600},
                          {"all-reduce-implementation", {"ring"}}}},
                        {"groups", {{"1", {0, 1, 2, 3}}, {"2", {4, 5, 6, 7}}}}};
  for (int npu = 0; npu < 8; ++npu) {
    const bool first = npu < 4;
    const nlohmann::json compute = {{"id", 0}, {"t", "comp"}, {"us", first ? 5 : 9}};
    const nlohmann::json reduce = {{"id", 1}, {"t", "coll"}, {"k", "AR"}, {"sz", 1 << 20}, {"pg", first ? "1" : "2"},
                                   {"d", {0}}};
    nlohmann::json message = {{"id", 2}, {"t", first ? "send" : "recv"}, {"sz", 5000}, {"tag", 3}, {"d", {1}}};
    message[first ? "to" : "fr"] = first ? npu + 4 : npu - 4;
    out["trace"]["ranks"].push_back({compute, reduce, message});
  }
  return out;
}

TEST(Symmetry, StagesAreSimulatedOnceEach) {
  const Result<Case> built = BuildCase(TwoStages());
  ASSERT_TRUE(built.ok());
  const auto result = RunWith(*built, simulate::Engine::kAuto);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->method, "symmetry of 2 classes of ranks");
  EXPECT_EQ(Answer(*result), Answer(*RunWith(*built, simulate::Engine::kEvents)));
}

TEST(Symmetry, AStragglerNeedsAllEventsAndTheResultSaysSo) {
  Result<Case> built = BuildCase(TwoStages());
  ASSERT_TRUE(built.ok());
  built->options.compute_scale = {1, 1, 1.5};
  const auto result = RunWith(*built, simulate::Engine::kAuto);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->method, "events: hardly any two of the 8 ranks are equivalent");
  built->options.compute_scale = {1.5, 1.5, 1.5, 1.5};  // a slow stage is still one class
  EXPECT_EQ(RunWith(*built, simulate::Engine::kAuto)->method, "symmetry of 2 classes of ranks");
  EXPECT_FALSE(RunWith(*built, simulate::Engine::kSymmetry)->ranks.empty());
}

}  // namespace
}  // namespace hespas::network_test
