// One rank in the place of all against every rank by itself, over generated cases.
#include <gtest/gtest.h>

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

TEST(Symmetry, EqualsTheEventEngineOnGeneratedCases) {
  constexpr uint64_t kCases = 10'000;
  uint64_t by_symmetry = 0;
  int failures = 0;
  for (uint64_t seed = 0; seed < kCases && failures < 10; ++seed) {
    const nlohmann::json input = SymmetricCase(seed);
    const Result<Case> built = BuildCase(input);
    ASSERT_TRUE(built.ok()) << built.error().message << input.dump();
    const auto fast = RunWith(*built, simulate::Engine::kAuto);
    const auto full = RunWith(*built, simulate::Engine::kEvents);
    ASSERT_EQ(fast.ok(), full.ok()) << input.dump();
    if (!fast.ok()) continue;
    by_symmetry += fast->method == "symmetry" ? 1 : 0;
    if (Answer(*fast) == Answer(*full)) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << Answer(*fast).dump().substr(0, 400) << "\ninstead of\n"
                  << Answer(*full).dump().substr(0, 400) << "\n"
                  << input.dump();
  }
  RecordProperty("by_symmetry", static_cast<int>(by_symmetry));
  EXPECT_GT(by_symmetry, kCases / 4) << "the generator leaves too few symmetric cases";
}

}  // namespace
}  // namespace hespas::network_test
