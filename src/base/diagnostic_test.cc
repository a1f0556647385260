#include "base/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"

namespace hespas {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr DiagnosticKind kSomeError{"E9999", "an error of this test"};
constexpr DiagnosticKind kSomeWarning{"W9999", "a warning of this test"};

TEST(Render, ShowsPlaceCaretAndHelp) {
  const Error error = MakeError(kSomeError, "no such thing", {"a.mlir", 3, 5, "  %x = y"}, "write another");
  EXPECT_EQ(Render(error), "a.mlir:3:5: error[E9999]: no such thing\n      %x = y\n        ^\nhelp: write another\n");
}

TEST(Render, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(Render(MakeError(kSomeWarning, "odd")), "warning[W9999]: odd\n");
  EXPECT_EQ(Render(MakeError(kSomeError, "odd", {.file = "f"})), "f: error[E9999]: odd\n");
}

TEST(Render, KeepsTabsBeforeTheCaret) {
  EXPECT_THAT(Render(MakeError(kSomeError, "m", {"f", 1, 3, "\t\tx"})), EndsWith("    \t\tx\n    \t\t^\n"));
}

TEST(Render, CutsLongLinesAroundTheColumn) {
  const std::string text =
      Render(MakeError(kSomeError, "m", {"f", 1, 5001, std::string(5000, 'a') + "!" + std::string(5000, 'b')}));
  EXPECT_LT(text.size(), 400u);
  EXPECT_THAT(text, HasSubstr("!"));
}

TEST(Render, ColumnBeyondTheLineIsHarmless) {
  EXPECT_THAT(Render(MakeError(kSomeError, "m", {"f", 1, 99, "ab"})), StartsWith("f:1:99: error[E9999]: m\n    ab\n"));
}

TEST(Render, ColoursTheLabelOnly) {
  EXPECT_EQ(Render(MakeError(kSomeError, "m"), true), "\x1b[1;31merror[E9999]\x1b[0m: m\n");
}

TEST(Diagnostics, KeepsTwentyErrorsAndCountsTheRest) {
  Diagnostics diagnostics;
  for (int i = 0; i < 25; ++i) diagnostics.Error(kSomeError, "again");
  diagnostics.Warning(kSomeWarning, "and a warning");
  EXPECT_EQ(diagnostics.error_count(), 25u);
  EXPECT_EQ(diagnostics.all().size(), 21u);
  EXPECT_FALSE(diagnostics.wants_more());
}

TEST(Diagnostics, WarningsAreNoErrors) {
  Diagnostics diagnostics;
  diagnostics.Warning(kSomeWarning, "w");
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_TRUE(diagnostics.all().front().is_warning());
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  const Result<int> bad = MakeError(kSomeError, "m");
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind->code, "E9999");
  EXPECT_TRUE(Status().ok());
  EXPECT_FALSE(Status(MakeError(kSomeError, "m")).ok());
}

}  // namespace
}  // namespace hespas
