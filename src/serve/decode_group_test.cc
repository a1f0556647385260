#include "serve/decode_group.h"

#include <gtest/gtest.h>

#include <vector>

namespace hespas::serve {
namespace {

constexpr int64_t kBlock = 4;

struct Member {
  Job job;
  int64_t blocks = 0;
  DecodeGroup::Entry entry{};
};

// One by one what the group counts at once.
struct Sums {
  int64_t context = 0;
  int64_t to_come = 0;
  int64_t blocks = 0;  // that the next step needs
};

Sums SumsOf(std::vector<Member>& members) {
  Sums sums;
  for (Member& member : members) {
    const Job& job = member.job;
    sums.context += job.computed + 1;
    sums.to_come += job.output - job.produced;
    sums.blocks += job.computed + 1 - job.shared > member.blocks * kBlock ? 1 : 0;
  }
  return sums;
}

TEST(DecodeGroup, CountsWhatItsMembersWouldOneByOne) {
  DecodeGroup group(kBlock);
  std::vector<Member> members = {
      {.job = {.input = 5, .output = 30, .produced = 1, .computed = 5}, .blocks = 2},
      {.job = {.input = 8, .output = 40, .produced = 1, .computed = 8}, .blocks = 2},
      {.job = {.input = 9, .output = 25, .produced = 1, .computed = 9, .shared = 6}, .blocks = 1},
      {.job = {.input = 7, .output = 20, .produced = 1, .computed = 7}, .blocks = 7},  // reserved for all of it
  };
  for (Member& member : members) {
    ASSERT_TRUE(group.Admits(member.job, member.blocks));
    member.entry = group.Join(member.job, member.blocks);
  }
  std::vector<Member> shadows = members;
  for (int64_t step = 1; step < 19; ++step) {
    const Sums sums = SumsOf(shadows);
    EXPECT_EQ(group.context(), sums.context) << step;
    EXPECT_EQ(group.to_come(), sums.to_come) << step;
    EXPECT_EQ(group.blocks_needed(), sums.blocks) << step;
    group.Step(static_cast<double>(step));
    for (Member& member : shadows) {
      if (++member.job.computed - member.job.shared > member.blocks * kBlock) ++member.blocks;
      ++member.job.produced;
    }
  }
  EXPECT_TRUE(group.TakeEnded().empty());  // the fourth's 20 tokens, of which one came before, end with step 19
  for (size_t i = 0; i < members.size(); ++i) {
    const int64_t blocks = group.Bring(members[i].entry, members[i].job);
    EXPECT_EQ(blocks, shadows[i].blocks) << i;
    EXPECT_EQ(members[i].job.computed, shadows[i].job.computed) << i;
    EXPECT_EQ(members[i].job.seen, 18) << i;
    group.Leave(members[i].entry, members[i].job);
  }
  EXPECT_TRUE(group.empty());
  EXPECT_EQ(group.to_come(), 0);
  for (int64_t step = 0; step < kBlock; ++step, group.Step(0)) EXPECT_EQ(group.blocks_needed(), 0);
}

TEST(DecodeGroup, TellsWhoEndsOnceInTheirOrder) {
  using Orders = std::vector<int64_t>;
  DecodeGroup group(kBlock);
  for (const int64_t output : {3, 2, 3, 9}) group.Join({.input = 1, .output = output, .produced = 1, .computed = 1}, 9);
  EXPECT_EQ(group.TakeEnded(), Orders{});
  group.Step(1);
  EXPECT_EQ(group.TakeEnded(), Orders{1});
  group.Step(2);
  EXPECT_EQ(group.TakeEnded(), (Orders{0, 2}));
  for (int step = 3; step <= 8; ++step) {
    EXPECT_EQ(group.TakeEnded(), Orders{}) << step;
    group.Step(step);
  }
  EXPECT_EQ(group.TakeEnded(), Orders{3});
}

TEST(DecodeGroup, LeavesOutWhatItCannotCount) {
  const Job job{.input = 5, .output = 30, .produced = 1, .computed = 5};
  EXPECT_FALSE(DecodeGroup(kBlock).Admits(job, 4));  // more blocks than it needs, and not all
  EXPECT_FALSE(DecodeGroup(100'000'000).Admits(job, 1));
  EXPECT_TRUE(DecodeGroup(kBlock).Admits(job, 9));
}

}  // namespace
}  // namespace hespas::serve
