#include "network/nccl_tuning.h"

#include <gtest/gtest.h>

namespace hespas::network {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

struct Links {
  double bandwidth;
  int capability;
  bool nvlink = true;
  double switch_efficiency = 0;
};
constexpr Links kA100 = {240e3, 80};
constexpr Links kH100 = {370.8e3, 90};
constexpr Links kH100Sharp = {370.8e3, 90, true, 0.85};
constexpr Links kB200 = {721.8e3, 100};
constexpr Links kL40s = {24.4e3, 89, false};

NcclChoice Of(Operation op, const Links& links, double ranks, double bytes) {
  return ChoiceOfNccl(op, bytes,
                      {.ranks = ranks,
                       .bandwidth = links.bandwidth,
                       .capability = links.capability,
                       .nvlink = links.nvlink,
                       .switch_efficiency = links.switch_efficiency});
}

// The largest power of two with this protocol.
double Last(Operation op, const Links& links, double ranks, Protocol protocol) {
  double last = 0;
  for (double bytes = kKiB; bytes <= 1024 * kMiB; bytes *= 2) {
    if (Of(op, links, ranks, bytes).protocol == protocol) last = bytes;
  }
  return last;
}

// Measured times jump at these sizes: two A100 gather 1 MiB in 19.8 us and 2 MiB in 38.1, four GB200 4 MiB in 19 and
// 8 MiB in 47.
TEST(NcclTuning, RingsChangeProtocolWhereNcclExpectsIt) {
  const Operation gather = Operation::kAllGather;
  EXPECT_EQ(Last(gather, kA100, 2, Protocol::kLl), kMiB);
  EXPECT_EQ(Last(gather, kA100, 2, Protocol::kLl128), 0);
  EXPECT_EQ(Last(gather, kA100, 8, Protocol::kLl), 2 * kMiB);
  EXPECT_EQ(Last(gather, kA100, 8, Protocol::kLl128), 8 * kMiB);
  EXPECT_EQ(Last(gather, kH100, 2, Protocol::kLl), 2 * kMiB);
  EXPECT_EQ(Last(gather, kH100, 8, Protocol::kLl), 4 * kMiB);
  EXPECT_EQ(Last(gather, kH100, 8, Protocol::kLl128), 16 * kMiB);
  EXPECT_EQ(Last(gather, kB200, 4, Protocol::kLl), 4 * kMiB);
  EXPECT_EQ(Last(gather, kL40s, 2, Protocol::kLl), 256 * kKiB);
  EXPECT_EQ(Last(gather, kL40s, 2, Protocol::kLl128), 0);
}

// int8 is not summed in the switch: there LL128 and Simple take the place of NVLS.
TEST(NcclTuning, LargeAllReducesAreReducedInTheSwitch) {
  const Operation reduce = Operation::kAllReduce;
  EXPECT_FALSE(Of(reduce, kH100Sharp, 8, kMiB).in_switch);
  EXPECT_TRUE(Of(reduce, kH100Sharp, 8, 2 * kMiB).in_switch);
  EXPECT_FALSE(Of(reduce, kH100, 8, 1024 * kMiB).in_switch);
  EXPECT_EQ(Last(reduce, kH100, 8, Protocol::kLl), 2 * kMiB);
  EXPECT_EQ(Last(reduce, kH100, 8, Protocol::kLl128), 32 * kMiB);
}

// A bridge of 45 GB/s carries one channel of 40, which is more than a whole number of any of 20 and above.
TEST(NcclTuning, RingsHaveTheSpeedsThatNcclLists) {
  const auto same = [](double bandwidth, double whole, int capability) {
    for (double bytes = kKiB; bytes <= 64 * kMiB; bytes *= 1.0625) {
      const Protocol of_links = Of(Operation::kAllGather, {bandwidth, capability}, 2, bytes).protocol;
      if (of_links != Of(Operation::kAllGather, {whole, capability}, 2, bytes).protocol) return false;
    }
    return true;
  };
  EXPECT_TRUE(same(45e3, 40e3, 86));
  EXPECT_FALSE(same(45e3, 36e3, 86));
  EXPECT_TRUE(same(53e3, 50e3, 90));
  EXPECT_TRUE(same(94e3, 90e3, 100));
  EXPECT_FALSE(same(94e3, 84e3, 100));
}

// "24 coll channels" in NCCL's logs of two H100 (NVIDIA/nccl, issue 1781), 16 of eight H800 (issue 892).
TEST(NcclTuning, ChannelsAreAsManyAsNcclLogs) {
  const auto channels = [](const Links& links) {
    return ChannelsOfNccl({.bandwidth = links.bandwidth, .capability = links.capability, .nvlink = links.nvlink});
  };
  EXPECT_EQ(channels(kA100), 24);
  EXPECT_EQ(channels(kH100), 24);
  EXPECT_EQ(channels({8 * 20.6e3, 90}), 16);
  EXPECT_EQ(channels({120e3, 70}), 12);  // V100
  EXPECT_EQ(channels(kB200), 32);
  EXPECT_EQ(channels({45e3, 86}), 4);  // one of 40 GB/s
}

TEST(NcclTuning, OfAnUnknownDeviceItsLinksAloneCount) {
  EXPECT_EQ(Of(Operation::kAllGather, {300, 0}, 2, kKiB).protocol, Protocol::kLl);
  EXPECT_EQ(Of(Operation::kAllGather, {300, 0}, 2, 1024 * kMiB).protocol, Protocol::kSimple);
}

}  // namespace
}  // namespace hespas::network
