#include "base/system/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

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

TEST(Process, GivesTheEnvironmentOnTopOfOurs) {
  const auto run = RunProcess({"sh", "-c", "echo $HESPAS_TEST_WORD; test -n \"$PATH\""}, "", seconds(20),
                              {{"HESPAS_TEST_WORD", "given"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->output, "given\n");
  EXPECT_EQ(run->status, 0);
}

TEST(Process, SaysWhatEndedIt) {
  const auto failure = [](const char* script, milliseconds limit) {
    return RunProcess({"sh", "-c", script}, "", limit)->Failure(limit);
  };
  EXPECT_EQ(failure("exit 0", seconds(20)), std::nullopt);
  EXPECT_EQ(failure("exit 3", seconds(20)), "ended with status 3");
  EXPECT_EQ(failure("kill -FPE $$", seconds(20)), "was killed by signal 8 (Floating point exception)");
  EXPECT_EQ(failure("sleep 60", milliseconds(100)), "took longer than 0.1 s");
}

TEST(Worker, AnswersLineByLine) {
  auto worker = Worker::Start({"sh", "-c", "while read word; do echo got $word; done"});
  ASSERT_TRUE(worker.ok()) << worker.error().message;
  for (const std::string word : {"one", "two"}) {
    ASSERT_TRUE(worker->WriteLine(word).ok());
    const auto line = worker->ReadLine(seconds(20));
    ASSERT_TRUE(line.ok()) << line.error().message;
    EXPECT_EQ(*line, "got " + word);
  }
}

TEST(Worker, OneThatDiesOrStaysSilentIsAnError) {
  auto dead = Worker::Start({"sh", "-c", "exit 1"});
  ASSERT_TRUE(dead.ok());
  EXPECT_THAT(dead->ReadLine(seconds(20)).error().message, testing::HasSubstr("ended without an answer"));
  auto closing = Worker::Start({"sh", "-c", "exec >&-; sleep 0.2; exit 3"});
  ASSERT_TRUE(closing.ok());
  EXPECT_THAT(closing->ReadLine(seconds(20)).error().message, testing::HasSubstr("it ended with status 3"));
  // The kernel may close the dead program's stdin a little after its stdout.
  bool refused = false;
  for (int i = 0; i < 500 && !refused; ++i) {
    refused = !dead->WriteLine("anything").ok();
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(refused);
  auto silent = Worker::Start({"sleep", "60"});
  ASSERT_TRUE(silent.ok());
  EXPECT_THAT(silent->ReadLine(milliseconds(100)).error().message, testing::HasSubstr("silent for 0.1 s"));
  EXPECT_FALSE(Worker::Start({"/nowhere/program"}).ok());
}

TEST(Process, ProgramsAreFoundInPath) {
  EXPECT_THAT(FindProgram({"no-such-program-here", "sh"}), testing::EndsWith("/sh"));
  EXPECT_EQ(FindProgram({"no-such-program-here"}), "");
}

TEST(ExecutablePath, IsThisProgram) { EXPECT_EQ(ExecutablePath().filename(), "hespas_base_test"); }

}  // namespace
}  // namespace hespas
