#include "base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Process, GivesOutputAndStatus) {
  const auto run = RunProcess({"sh", "-c", "echo out; echo err >&2; exit 7"}, "", seconds(20));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->status, 7);
  EXPECT_EQ(run->output, "out\nerr\n");
  EXPECT_FALSE(run->timed_out);
}

TEST(Process, RunsInTheFolderWithoutInput) {
  const auto run = RunProcess({"sh", "-c", "cat; pwd"}, "/", seconds(20));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->output, "/\n");
}

TEST(Process, EndsWhatTakesTooLongWithItsChildren) {
  const auto run = RunProcess({"sh", "-c", "sleep 60 & sleep 60"}, "", milliseconds(200));
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->timed_out);
}

TEST(Process, AMissingProgramIsAnError) {
  const auto run = RunProcess({"/nowhere/program"}, "", seconds(1));
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, testing::HasSubstr("cannot start `/nowhere/program`"));
  EXPECT_EQ(run.error().kind->outcome, Outcome::kToolFailed);
}

TEST(Process, ProgramsAreFoundInPath) {
  EXPECT_THAT(FindProgram({"no-such-program-here", "sh"}), testing::EndsWith("/sh"));
  EXPECT_EQ(FindProgram({"no-such-program-here"}), "");
}

}  // namespace
}  // namespace hespas
