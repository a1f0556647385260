#include "result/sim_result_json.h"

#include <gtest/gtest.h>

namespace hespas::result {
namespace {

TEST(SimResultJson, ComesBackWithoutLoss) {
  SimResult result;
  result.tick = Time(1);
  result.ranks = {{.finish = ~uint64_t{0} - 1,
                   .exposed = 2,
                   .wall = 3,
                   .overlap = 4,
                   .roofline = RooflineAverages{0.1, 1e-300, 3, 4}},
                  {.finish = 7, .peak_memory = 9}};
  result.order = {1, 0};
  result.intervals = {{.node = 5, .rank = 1, .start = 6, .end = 7}};
  result.links = {{.name = "a -> b", .messages = 1, .bytes = 2, .busy = 3, .queued = 4}};
  result.critical_path = {{.node = 1, .rank = 0, .name = "n", .why = "compute", .start = 2, .end = 3}};
  result.collectives = {{.node = 1,
                         .name = "c",
                         .members = 4,
                         .bytes = 5,
                         .start = 6,
                         .end = 7,
                         .exposed = 8,
                         .waited = 9,
                         .last_member = 3}};
  result.loop_drift = 0.25;
  result.method = "m";
  const std::string text = EncodeSimResult(result);
  const Result<SimResult> back = DecodeSimResult(text);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(EncodeSimResult(*back), text);
  EXPECT_EQ(back->ranks[0].finish, ~uint64_t{0} - 1);
  EXPECT_EQ(back->ranks[0].gpu, std::nullopt);
  EXPECT_EQ(back->ranks[0].roofline->compute_utilisation, 1e-300);
  EXPECT_EQ(back->collectives[0].last_member, 3u);
}

TEST(SimResultJson, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{\"tick\": 1}", "{\"tick\": \"a\"}"})
    EXPECT_FALSE(DecodeSimResult(text).ok()) << text;
}

}  // namespace
}  // namespace hespas::result
