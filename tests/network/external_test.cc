// The adapter to an installed ASTRA-sim, against a fake that prints recorded output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/system/file.h"
#include "engines/astra_sim.h"
#include "report/export/chakra.h"

namespace hespas::network_test {
namespace {

using testing::HasSubstr;

class AstraSim : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_TRUE(MakeFolder(folder_).ok());
    ASSERT_TRUE(WriteFileAtomically(folder_ / "t.0.et", report::EncodeChakra({})).ok());
    files_.workload = (folder_ / "t").string();
    system_.dimensions = {{.npus = 2, .bandwidth = 50, .latency = 500}};
    setenv("FAKE_ASTRA_SIM_OUTPUT", HESPAS_NETWORK_DATA "/astra_sim_output.txt", 1);
  }
  Result<result::SimResult> Run(const char* mode) {
    setenv("FAKE_ASTRA_SIM", mode, 1);
    return engines::RunAstraSim(files_, system_, {}, {.binary = HESPAS_FAKE_ASTRA_SIM, .limit = limit_});
  }
  std::string Message(const char* mode) {
    const auto result = Run(mode);
    return result.ok() ? "no error" : result.error().message;
  }

  std::filesystem::path folder_;
  engines::NetworkRunFiles files_;
  hardware::System system_;
  std::chrono::milliseconds limit_ = std::chrono::seconds(20);
};

TEST_F(AstraSim, ItsAnswerIsRead) {
  const auto result = Run("recorded");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_THAT(result->order, testing::ElementsAre(1, 0));
  EXPECT_EQ(result->ranks[1].finish, 331317u);
  EXPECT_EQ(result->ranks[1].exposed, 31317u);
  EXPECT_EQ(result->ranks[1].gpu, 300000u);
  EXPECT_EQ(result->ranks[1].comm, 102736u);
  EXPECT_EQ(result->ranks[1].overlap, 71419u);
  EXPECT_EQ(result->ranks[0].wall, 5541u);
  EXPECT_EQ(result->ranks[0].gpu, std::nullopt);
}

TEST_F(AstraSim, AStuckRunIsAnError) {
  EXPECT_THAT(Message("stuck"), HasSubstr("1 of 2 NPUs never finished, NPU 0 first"));
}

TEST_F(AstraSim, ACrashIsAnError) {
  EXPECT_THAT(Message("crash"), HasSubstr("status 134: Assertion `src != dest' failed."));
}

TEST_F(AstraSim, TooLongIsAnError) {
  limit_ = std::chrono::milliseconds(300);
  EXPECT_THAT(Message("hang"), HasSubstr("stopped after 0.3 s"));
}

TEST_F(AstraSim, AMissingTraceIsAnError) {
  files_.workload = (folder_ / "nothing").string();
  EXPECT_THAT(Message("recorded"), HasSubstr("does not exist"));
}

TEST_F(AstraSim, AMissingBinaryIsAnError) {
  const auto result = engines::RunAstraSim(files_, system_, {}, {.binary = "/nowhere/AstraSim"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind->outcome, Outcome::kToolFailed);
  EXPECT_THAT(result.error().message, HasSubstr("there is no ASTRA-sim at `/nowhere/AstraSim`"));
}

}  // namespace
}  // namespace hespas::network_test
