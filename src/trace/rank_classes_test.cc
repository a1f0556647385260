#include "trace/rank_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Node Collective(uint64_t id, uint32_t group) { return {.id = id, .kind = NodeKind::kCollective, .group = group}; }
Node Message(uint64_t id, NodeKind kind, int32_t peer) { return {.id = id, .kind = kind, .peer = peer}; }

Program Of(std::vector<Node> nodes) { return {.nodes = std::move(nodes), .dependencies = {}}; }

TEST(RankClasses, ProgramsThatDifferInGroupsAndPeersAreOne) {
  RankClasses classes;
  classes.Add(Of({Collective(0, 1), Message(1, NodeKind::kSend, 1), Collective(2, 0)}));
  classes.Add(Of({Collective(0, 2), Message(1, NodeKind::kSend, 0), Collective(2, 0)}));
  const TraceGraph trace = classes.Take();
  ASSERT_THAT(trace.programs, SizeIs(1));
  EXPECT_THAT(trace.program_of_rank, ElementsAre(0, 0));
  const std::vector<Node>& nodes = trace.programs[0].nodes;
  EXPECT_EQ(trace.GroupOf(1, nodes[0]), 2);
  EXPECT_EQ(trace.PeerOf(1, nodes[1]), 0);
  EXPECT_EQ(trace.GroupOf(1, nodes[2]), 0);  // all ranks stay all ranks
}

// Twice the same communicator is no program with two of them.
TEST(RankClasses, PlacesOfOneNumberAreOnePlace) {
  RankClasses classes;
  classes.Add(Of({Collective(0, 1), Collective(1, 1)}));
  classes.Add(Of({Collective(0, 2), Collective(1, 3)}));
  classes.Add(Of({Collective(0, 4), Collective(1, 4)}));
  const TraceGraph trace = classes.Take();
  EXPECT_THAT(trace.program_of_rank, ElementsAre(0, 1, 0));
  EXPECT_EQ(trace.programs[1].nodes[1].group, 3);  // alone in its class: the number itself
  EXPECT_EQ(trace.GroupOf(2, trace.programs[0].nodes[1]), 4);
}

TEST(RankClasses, EqualRanksNeedNoArguments) {
  RankClasses classes;
  classes.Add(Of({Collective(0, 7)}));
  EXPECT_TRUE(classes.AddLike(0));
  const TraceGraph trace = classes.Take();
  EXPECT_THAT(trace.arguments, IsEmpty());
  EXPECT_EQ(trace.programs[0].nodes[0].group, 7);
}

TEST(RankClasses, RenamingKeepsPlacesApart) {
  RankClasses classes;
  classes.Add(Of({Collective(0, 1), Collective(1, 2)}));
  EXPECT_FALSE(classes.AddLike(0, {.groups = {{1, 2}}, .peers = {}}));
  EXPECT_TRUE(classes.AddLike(0, {.groups = {{1, 2}, {2, 1}}, .peers = {}}));
  const TraceGraph trace = classes.Take();
  EXPECT_EQ(trace.GroupOf(1, trace.programs[0].nodes[0]), 2);
  EXPECT_EQ(trace.GroupOf(1, trace.programs[0].nodes[1]), 1);
}

TEST(RankClasses, OtherWorkIsAnotherProgram) {
  RankClasses classes;
  classes.Add(Of({{.id = 0, .duration = Time(5)}}));
  classes.Add(Of({{.id = 0, .duration = Time(6)}}));
  EXPECT_THAT(classes.Take().programs, SizeIs(2));
}

}  // namespace
}  // namespace hespas::trace
