#include "base/system/forked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace hespas {
namespace {

constexpr DiagnosticKind kDied{"E9998", "test"};
constexpr DiagnosticKind kRefused{"E9999", "test"};

TEST(RunForked, GivesTheAnswerOfTheCopy) {
  int changed = 0;
  const auto answer = RunForked(kDied, "work", [&]() -> Result<std::string> {
    changed = 1;
    return std::string(1 << 20, 'x');
  });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->size(), 1u << 20);
  EXPECT_EQ(changed, 0);
}

TEST(RunForked, KeepsTheKindOfAnError) {
  const auto answer = RunForked(
      kDied, "work", []() -> Result<std::string> { return MakeError(kRefused, "no", {.file = "f"}, "help"); });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, &kRefused);
  EXPECT_EQ(answer.error().message, "no");
  EXPECT_EQ(answer.error().help, "help");
  EXPECT_EQ(answer.error().location.file, "f");
}

TEST(RunForked, TellsWhatADyingCopySaid) {
  const auto answer = RunForked(kDied, "work", []() -> Result<std::string> {
    fputs("out of luck\n", stderr);
    abort();
  });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, &kDied);
  EXPECT_THAT(answer.error().message, testing::HasSubstr("work: out of luck"));
}

}  // namespace
}  // namespace hespas
