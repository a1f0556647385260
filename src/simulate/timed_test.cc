#include "simulate/timed.h"

#include <gmock/gmock.h>

#include "simulate/simulate.h"

namespace hespas::simulate {
namespace {

using trace::Node;
using trace::NodeKind;

void Append(trace::Program& program, Node node, const std::vector<uint64_t>& dependencies = {}) {
  node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
  node.dependency_count = static_cast<uint32_t>(dependencies.size());
  program.dependencies.insert(program.dependencies.end(), dependencies.begin(), dependencies.end());
  program.nodes.push_back(node);
}

Node Compute(uint64_t id, int64_t ps) { return {.id = id, .duration = Time(ps)}; }
Node AllReduce(uint64_t id, uint32_t group = 0) { return {.id = id, .kind = NodeKind::kCollective, .group = group}; }

const CommunicationTime kFive = [](const Node&, std::span<const uint32_t>) { return Time(5); };

TEST(Timed, ComputeHidesCommunicationThatItDoesNotNeed) {
  trace::TraceGraph trace;
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 3), {1});
  Append(program, Compute(4, 4), {2});
  trace.programs = {program};
  trace.program_of_rank = {0, 0, 0, 0};
  const auto answer = SimulateTimed(trace, kFive);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->ranks.size(), 4u);
  EXPECT_EQ(answer->ranks[3].finish, 19u);  // 10, the collective's 5, 4
  EXPECT_EQ(answer->ranks[3].gpu, 17u);
  EXPECT_EQ(answer->ranks[3].comm, 5u);
  EXPECT_EQ(answer->ranks[3].overlap, 3u);
}

TEST(Timed, ACollectiveWaitsForItsLastMember) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], Compute(1, 10));
  Append(trace.programs[0], AllReduce(2, 1), {1});
  Append(trace.programs[1], Compute(1, 30));
  Append(trace.programs[1], AllReduce(2, 1), {1});
  trace.program_of_rank = {0, 1};
  trace.groups[1] = {0, 1};
  std::vector<uint32_t> members;
  const auto answer = SimulateTimed(trace, [&](const Node&, std::span<const uint32_t> m) {
    members.assign(m.begin(), m.end());
    return Time(5);
  });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 35u);
  EXPECT_EQ(answer->ranks[1].finish, 35u);
  EXPECT_THAT(members, ::testing::ElementsAre(0, 1));
}

TEST(Timed, MessagesMeetTheirPartner) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], {.id = 1, .kind = NodeKind::kSend, .peer = 1});
  Append(trace.programs[1], Compute(1, 7));
  Append(trace.programs[1], {.id = 2, .kind = NodeKind::kReceive, .peer = 0}, {1});
  trace.program_of_rank = {0, 1};
  const auto answer = SimulateTimed(trace, kFive);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 12u);
  EXPECT_EQ(answer->ranks[1].finish, 12u);
}

TEST(Timed, WhatNeverFinishesIsNamed) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], AllReduce(8, 1));
  Append(trace.programs[1], Compute(1, 7));
  trace.program_of_rank = {0, 1};
  trace.groups[1] = {0, 1};
  const auto answer = SimulateTimed(trace, kFive);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, &kNeverFinishes);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("node 8 of NPU 0"));
}

}  // namespace
}  // namespace hespas::simulate
