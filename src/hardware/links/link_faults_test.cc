#include "hardware/links/link_faults.h"

#include <gtest/gtest.h>

namespace hespas::hardware {
namespace {

NetworkDimension Of(DimensionKind kind, uint32_t npus, bool open = false) {
  return {.kind = kind, .npus = npus, .bandwidth = 50, .latency = 500, .open = open};
}

const System kHosts{.name = "hosts", .dimensions = {Of(DimensionKind::kSwitch, 4), Of(DimensionKind::kSwitch, 2)}};
const System kTorus{.name = "torus", .dimensions = {Of(DimensionKind::kRing, 4), Of(DimensionKind::kRing, 3, true)}};

std::string Refusal(const LinkTexts& texts, const System& system) {
  const auto faults = ParseLinkFaults(texts, system);
  EXPECT_FALSE(faults);
  return faults ? "" : faults.error().message;
}

TEST(LinkFaults, NameAdaptersAndNeighbours) {
  const auto adapter = ParseLinkFaults({.slow = {"5@1=0.5"}, .failed = {}}, kHosts);
  ASSERT_TRUE(adapter);
  EXPECT_EQ(adapter->front().rank, 5u);
  EXPECT_EQ(adapter->front().dimension, 1u);
  EXPECT_EQ(adapter->front().factor, 0.5);
  const auto closing = ParseLinkFaults({.slow = {}, .failed = {"0-3"}}, kTorus);
  ASSERT_TRUE(closing);
  EXPECT_EQ(closing->front().rank, 3u);  // its next neighbour is 0
  EXPECT_EQ(closing->front().peer, 0u);
}

TEST(LinkFaults, RefuseWhatIsNotThere) {
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0-5"}}, kHosts).find("no link joins"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0-1"}}, kHosts).find("a switch joins"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {}, .failed = {"9@0"}}, kHosts).find("8 ranks"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {}, .failed = {"1@2"}}, kHosts).find("2 dimensions"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {}, .failed = {"1@0"}}, kHosts).find("no way"), std::string::npos);
  const System line{.name = "line", .dimensions = {Of(DimensionKind::kRing, 4, true)}};
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0-1"}}, line).find("no way"), std::string::npos);  // it is cut
  EXPECT_TRUE(ParseLinkFaults({.slow = {}, .failed = {"0-4"}}, kTorus));                        // 0, 1, 5, 4
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0-2"}}, kTorus).find("no neighbours"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {"0-1=2"}, .failed = {}}, kTorus).find("between 0 and 1"), std::string::npos);
  EXPECT_NE(Refusal({.slow = {}, .failed = {"x"}}, kTorus).find("no link"), std::string::npos);
}

TEST(LinkFaults, RefuseWhatCutsOnlyTogether) {
  const System ring{.name = "ring", .dimensions = {Of(DimensionKind::kRing, 4), Of(DimensionKind::kSwitch, 2)}};
  EXPECT_TRUE(ParseLinkFaults({.slow = {}, .failed = {"0-1", "6-7"}}, ring));  // of two rings
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0-1", "2-3"}}, ring).find("rank 0 has no way to rank 1"),
            std::string::npos);
  const System mesh{.name = "mesh",
                    .dimensions = {Of(DimensionKind::kRing, 4, true), Of(DimensionKind::kRing, 3, true)}};
  EXPECT_TRUE(ParseLinkFaults({.slow = {}, .failed = {"1-2", "5-6"}}, mesh));
  EXPECT_NE(Refusal({.slow = {}, .failed = {"1-2", "5-6", "9-10"}}, mesh).find("no way"), std::string::npos);
  EXPECT_TRUE(ParseLinkFaults({.slow = {}, .failed = {"0@1", "4@1"}}, kHosts));  // a whole switch; three are left
  EXPECT_NE(Refusal({.slow = {}, .failed = {"0@1", "1@1", "2@1", "3@1"}}, kHosts).find("rank 4 has no way to rank 0"),
            std::string::npos);
}

TEST(LinkFaults, ChangeBothDirectionsOfOneLinkOfTheGraph) {
  const LinkGraph whole = LinkGraphOf(kHosts);
  const auto faults = ParseLinkFaults({.slow = {"5@1=0.5"}, .failed = {}}, kHosts);
  ASSERT_TRUE(faults);
  const LinkGraph slow = LinkGraphWith(*faults, kHosts);
  ASSERT_EQ(slow.links.size(), whole.links.size());
  size_t changed = 0;
  for (size_t i = 0; i < whole.links.size(); ++i) {
    if (slow.links[i].bandwidth == whole.links[i].bandwidth) continue;
    ++changed;
    EXPECT_EQ(std::min(slow.links[i].from, slow.links[i].to), 5u);
    EXPECT_GE(std::max(slow.links[i].from, slow.links[i].to), 10u);  // behind the two switches of hosts
  }
  EXPECT_EQ(changed, 2u);
  const auto lost = ParseLinkFaults({.slow = {}, .failed = {"0-1"}}, kTorus);
  ASSERT_TRUE(lost);
  EXPECT_EQ(LinkGraphWith(*lost, kTorus).links.size() + 2, LinkGraphOf(kTorus).links.size());
}

}  // namespace
}  // namespace hespas::hardware
