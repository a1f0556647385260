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

// Compares as many cases of `make_case`; the share that one rank could stand for all in.
double Compare(nlohmann::json (*make_case)(uint64_t)) {
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
    by_symmetry += fast->method == "symmetry" ? 1 : 0;
    if (Answer(*fast) == Answer(*full)) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << Answer(*fast).dump().substr(0, 400) << "\ninstead of\n"
                  << Answer(*full).dump().substr(0, 400) << "\n"
                  << input.dump();
  }
  return static_cast<double>(by_symmetry) / static_cast<double>(Cases());
}

TEST(Symmetry, EqualsTheEventEngineOnGeneratedCases) { EXPECT_GT(Compare(SymmetricCase), 0.25); }

TEST(Symmetry, EqualsTheEventEngineWithGroups) { EXPECT_GT(Compare(GroupCase), 0.1); }

}  // namespace
}  // namespace hespas::network_test
