#include "simulate/collective/analytical.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "simulate/simulate.h"
#include "trace/asynchronous.h"

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

// Both ranks run the program.
trace::TraceGraph OnTwoRanks(const trace::Program& program) {
  trace::TraceGraph trace;
  trace.programs = {program};
  trace.program_of_rank = {0, 0};
  return trace;
}

const CommunicationTime kFive = [](const Node&, std::span<const uint32_t>) { return Time(5); };

TEST(AnalyticalSimulation, ComputeHidesCommunicationThatItDoesNotNeed) {
  trace::TraceGraph trace;
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 3), {1});
  Append(program, Compute(4, 4), {2});
  trace.programs = {program};
  trace.program_of_rank = {0, 0, 0, 0};
  const auto answer = SimulateAnalytical(trace, kFive);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->ranks.size(), 4u);
  EXPECT_EQ(answer->ranks[3].finish, 19u);  // 10, the collective's 5, 4
  EXPECT_EQ(answer->ranks[3].gpu, 17u);
  EXPECT_EQ(answer->ranks[3].comm, 5u);
  EXPECT_EQ(answer->ranks[3].overlap, 3u);
}

TEST(AnalyticalSimulation, ACollectiveThatHoldsTheComputeUnitRunsInItsOrder) {
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 3), {1});
  const auto answer = SimulateAnalytical(
      OnTwoRanks(program), kFive, {.held = [](const Node&, std::span<const uint32_t>) { return 1 | kHoldsCompute; }});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 18u);
  EXPECT_EQ(answer->ranks[0].overlap, 0u);
}

TEST(AnalyticalSimulation, ACollectiveInTheStreamOfTheComputationHoldsItOnEveryNetwork) {
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 3), {1});
  const auto finish = [&](bool share_links) {
    return SimulateAnalytical(OnTwoRanks(program), kFive, {.share_links = share_links})->ranks[0].finish;
  };
  EXPECT_EQ(finish(false), 15u);
  EXPECT_EQ(finish(true), 15u);
  program.nodes[1].tag = trace::kInComputeStream;
  EXPECT_EQ(finish(false), 18u);
  EXPECT_EQ(finish(true), 18u);
}

// Rank 1 could begin with the last one, rank 0 with the one before it; each would wait for the other.
TEST(AnalyticalSimulation, CollectivesThatHoldTheComputeUnitKeepTheProgramsOrder) {
  trace::Program program;
  Append(program, AllReduce(1));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 10));
  Append(program, AllReduce(4), {3});
  const auto held = [](const Node& node, std::span<const uint32_t>) { return node.id == 1 ? 1 : 2 | kHoldsCompute; };
  const auto answer = SimulateAnalytical(OnTwoRanks(program), kFive, {.held = held, .compute_scale = {1, 0.1}});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 20u);
  EXPECT_EQ(answer->ranks[1].finish, 20u);
}

TEST(AnalyticalSimulation, KernelsBesideACollectiveAreSlowed) {
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 3), {1});
  Append(program, Compute(4, 2), {3});
  const auto answer = SimulateAnalytical(OnTwoRanks(program), kFive, {.units_beside = 0.5});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 18u);  // 5 of work from 10 on: 2.5 done beside the collective, the rest after it
  EXPECT_EQ(answer->ranks[0].gpu, 18u);
}

TEST(AnalyticalSimulation, KernelsShareMemoryWithCollectives) {
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, AllReduce(2), {1});
  Append(program, Compute(3, 4), {1});  // alone it needs all of the bandwidth
  program.SetDetails(2, {.tensor_size = Bytes(40)});
  const AnalyticalOptions options{.memory_share = [](const Node&, std::span<const uint32_t>) { return 0.5; },
                                  .memory_bandwidth = BytesPerSecond{10e12}};
  const auto answer = SimulateAnalytical(OnTwoRanks(program), kFive, options);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 17u);  // 2 of its 4 in the collective's 5, the rest behind it
  program.SetDetails(2, {.tensor_size = Bytes(20)});
  EXPECT_EQ(SimulateAnalytical(OnTwoRanks(program), kFive, options)->ranks[0].finish, 15u);  // both fit
}

// Groups 1 and 2 are both ranks: two communicators.
trace::TraceGraph InTwoGroups(const trace::Program& program) {
  trace::TraceGraph trace = OnTwoRanks(program);
  trace.groups = {{1, {0, 1}}, {2, {0, 1}}};
  return trace;
}

TEST(AnalyticalSimulation, CollectivesOfTwoGroupsShareTheirLinks) {
  trace::Program program;
  Append(program, AllReduce(1, 1));
  Append(program, Compute(2, 1));
  Append(program, AllReduce(3, 2), {2});
  const auto answer = SimulateAnalytical(InTwoGroups(program), kFive, {.share_links = true});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  // The first has 1 alone and 8 at half the rate; the second 8 so, and 1 alone.
  std::vector<std::pair<uint64_t, uint64_t>> ends;
  for (const auto& interval : answer->intervals)
    if (interval.rank == 0) ends.emplace_back(interval.node, interval.end);
  EXPECT_THAT(ends, testing::UnorderedElementsAre(std::pair(1u, 9u), std::pair(2u, 1u), std::pair(3u, 10u)));
  EXPECT_EQ(answer->ranks[1].finish, 10u);
  EXPECT_EQ(answer->ranks[1].comm, 10u);
}

TEST(AnalyticalSimulation, CollectivesOfOneGroupQueueAndOfOtherDimensionsDoNot) {
  trace::Program program;
  Append(program, AllReduce(1, 1));
  Append(program, AllReduce(2, 1));
  Append(program, AllReduce(3, 2));
  const auto held = [](const Node& node, std::span<const uint32_t>) { return node.group == 1 ? 1u : 2u; };
  const auto apart = SimulateAnalytical(InTwoGroups(program), kFive, {.held = held, .share_links = true});
  ASSERT_TRUE(apart.ok());
  EXPECT_EQ(apart->ranks[0].finish, 10u);  // two of group 1, and the other beside them
  EXPECT_EQ(apart->ranks[0].comm, 10u);
  const auto shared = SimulateAnalytical(InTwoGroups(program), kFive, {.share_links = true});
  EXPECT_EQ(shared->ranks[0].finish, 15u);  // the links are never idle
}

TEST(AnalyticalSimulation, KernelsFollowACollectiveWhoseEndMoves) {
  trace::Program program;
  Append(program, AllReduce(1, 1));
  Append(program, Compute(2, 6));
  Append(program, AllReduce(3, 2));
  const auto answer = SimulateAnalytical(InTwoGroups(program), kFive, {.units_beside = 0.5, .share_links = true});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 11u);  // both collectives take 10: 5 of the kernel's 6 beside them
  EXPECT_EQ(answer->ranks[0].gpu, 11u);
}

TEST(AnalyticalSimulation, TheHostWorksBesideTheDevice) {
  trace::TraceGraph trace;
  trace::Program program;
  Append(program, Compute(1, 10));
  Append(program, {.id = 2, .is_cpu = true, .duration = Time(8)}, {1});
  Append(program, {.id = 3, .is_cpu = true, .duration = Time(8)}, {1});
  Append(program, Compute(4, 5), {1});
  trace.programs = {program};
  trace.program_of_rank = {0};
  const auto answer = SimulateAnalytical(trace, kFive);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 26u);  // 10, and two copies one after the other
  EXPECT_EQ(answer->ranks[0].gpu, 15u);
}

TEST(AnalyticalSimulation, ACollectiveWaitsForItsLastMember) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], Compute(1, 10));
  Append(trace.programs[0], AllReduce(2, 1), {1});
  Append(trace.programs[1], Compute(1, 30));
  Append(trace.programs[1], AllReduce(2, 1), {1});
  trace.program_of_rank = {0, 1};
  trace.groups[1] = {0, 1};
  std::vector<uint32_t> members;
  const auto answer = SimulateAnalytical(trace, [&](const Node&, std::span<const uint32_t> m) {
    members.assign(m.begin(), m.end());
    return Time(5);
  });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 35u);
  EXPECT_EQ(answer->ranks[1].finish, 35u);
  EXPECT_THAT(members, ::testing::ElementsAre(0, 1));
}

// Four ranks in groups of two: neighbours, and `second` of {0: neighbours, 1: across}.
trace::TraceGraph InPairs(uint32_t second = 0) {
  trace::TraceGraph trace;
  trace.programs.resize(1);
  Append(trace.programs[0], Compute(1, 10));
  Append(trace.programs[0], {.id = 2, .kind = NodeKind::kCollective, .per_rank = true, .size = Bytes(8), .group = 0},
         {1});
  Append(trace.programs[0],
         {.id = 3, .kind = NodeKind::kCollective, .per_rank = true, .size = Bytes(8), .group = second}, {1});
  Append(trace.programs[0], Compute(4, 3), {2});
  trace.program_of_rank = {0, 0, 0, 0};
  trace.groups = {{1, {0, 1}}, {2, {2, 3}}, {3, {0, 2}}, {4, {3, 1}}};
  trace.arguments = {{.groups = {1, 3}}, {.groups = {1, 4}}, {.groups = {2, 3}}, {.groups = {2, 4}}};
  return trace;
}

// As SimulateAnalytical answers, and as it does where every rank is simulated by itself (speeds are given).
void ExpectSameByItself(const trace::TraceGraph& trace, const CommunicationTime& time_of, std::string_view method) {
  const auto answer = SimulateAnalytical(trace, time_of);
  const auto apart = SimulateAnalytical(trace, time_of, {.compute_scale = {1}});
  ASSERT_TRUE(answer.ok() && apart.ok());
  EXPECT_EQ(answer->method, method);
  EXPECT_EQ(apart->method, "given times");
  for (size_t rank = 0; rank < apart->ranks.size(); ++rank) {
    EXPECT_EQ(answer->ranks[rank].finish, apart->ranks[rank].finish);
    EXPECT_EQ(answer->ranks[rank].comm, apart->ranks[rank].comm);
    EXPECT_EQ(answer->ranks[rank].overlap, apart->ranks[rank].overlap);
  }
}

TEST(AnalyticalSimulation, RanksInGroupsOfTheirOwnAreEquivalentWhereTheirGroupsTakeEquallyLong) {
  ExpectSameByItself(InPairs(), kFive, "symmetry");
  const CommunicationTime by_place = [](const Node&, std::span<const uint32_t> members) {
    return Time(members[0] + members[1] == 5 ? 9 : 5);  // one pair is slower
  };
  ExpectSameByItself(InPairs(), by_place, "given times");
  ExpectSameByItself(InPairs(1), kFive, "given times");
}

// Eight ranks on a cube with groups along each of its edges, and a program of kernels and collectives.
trace::TraceGraph OnACube(std::mt19937& random) {
  const auto upto = [&](uint32_t most) { return static_cast<uint32_t>(random() % (most + 1)); };
  trace::TraceGraph trace;
  trace.programs.resize(1);
  for (uint64_t id = 1; id <= 12; ++id) {
    std::set<uint64_t> after;
    for (uint32_t i = upto(2); i > 0 && id > 1; --i) after.insert(1 + upto(static_cast<uint32_t>(id) - 2));
    Node node = Compute(id, static_cast<int64_t>(upto(40)));
    if (upto(1) == 0) {
      node = AllReduce(id, 0);
      node.per_rank = upto(4) > 0;
      node.group = node.per_rank ? upto(2) : 0;
    }
    Append(trace.programs[0], node, {after.begin(), after.end()});
  }
  trace.arguments.resize(8);
  for (uint32_t rank = 0; rank < 8; ++rank) {
    trace.program_of_rank.push_back(0);
    for (uint32_t edge = 0; edge < 3; ++edge) {
      const uint32_t group = 1 + 8 * edge + (rank & ~(1u << edge));
      trace.arguments[rank].groups.push_back(group);
      trace.groups[group].push_back(rank);
    }
  }
  return trace;
}

TEST(AnalyticalSimulation, OneRankDoesWhatAllDoUnlessGroupsOfSeveralKindsTie) {
  std::mt19937 random(1);
  size_t alike = 0;
  const CommunicationTime time_of = [](const Node& node, std::span<const uint32_t> members) {
    return Time(static_cast<int64_t>(3 * members.size() + node.group));
  };
  const CommunicationHold apart = [](const Node& node, std::span<const uint32_t>) { return 1u << node.group; };
  for (size_t number = 0; number < 600; ++number) {
    const trace::TraceGraph trace = OnACube(random);
    AnalyticalOptions options{.held = number % 3 == 0 ? apart : CommunicationHold()};
    if (number % 2 == 0) {
      options.memory_share = [](const Node&, std::span<const uint32_t>) { return 0.5; };
      options.units_beside = 0.8;
      options.memory_bandwidth = BytesPerSecond{1e12};
    }
    const auto one = SimulateAnalytical(trace, time_of, options);
    options.compute_scale = {1};
    const auto each = SimulateAnalytical(trace, time_of, options);
    ASSERT_TRUE(one.ok() && each.ok());
    alike += one->method == "symmetry" ? 1 : 0;
    for (size_t rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(one->ranks[rank].finish, each->ranks[rank].finish) << number;
      EXPECT_EQ(one->ranks[rank].comm, each->ranks[rank].comm) << number;
      EXPECT_EQ(one->ranks[rank].overlap, each->ranks[rank].overlap) << number;
    }
  }
  EXPECT_GT(alike, 100u);
  EXPECT_LT(alike, 500u);
}

TEST(AnalyticalSimulation, RanksAreNotEquivalentWhereGroupsDoNotDivideThem) {
  trace::TraceGraph trace = InPairs();
  trace.programs[0].nodes.resize(2);
  trace.arguments[3].groups[0] = 1;  // of which it is no member: who is in group 2 waits for it
  EXPECT_FALSE(SimulateAnalytical(trace, kFive).ok());
}

TEST(AnalyticalSimulation, MessagesMatchTheirPartner) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], {.id = 1, .kind = NodeKind::kSend, .peer = 1});
  Append(trace.programs[1], Compute(1, 7));
  Append(trace.programs[1], {.id = 2, .kind = NodeKind::kReceive, .peer = 0}, {1});
  trace.program_of_rank = {0, 1};
  const auto answer = SimulateAnalytical(trace, kFive);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[0].finish, 12u);
  EXPECT_EQ(answer->ranks[1].finish, 12u);
}

TEST(AnalyticalSimulation, WhatNeverFinishesIsNamed) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  Append(trace.programs[0], AllReduce(8, 1));
  Append(trace.programs[1], Compute(1, 7));
  trace.program_of_rank = {0, 1};
  trace.groups[1] = {0, 1};
  const auto answer = SimulateAnalytical(trace, kFive);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, &kNeverFinishes);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("node 8 of NPU 0"));
}

// Each of `count` ranks sends to the next one and receives from the one before.
trace::TraceGraph RingShift(int32_t count) {
  trace::TraceGraph trace;
  for (int32_t rank = 0; rank < count; ++rank) {
    trace::Program program;
    Append(program, {.id = 1, .kind = NodeKind::kSend, .peer = (rank + 1) % count});
    Append(program, {.id = 2, .kind = NodeKind::kReceive, .peer = (rank + count - 1) % count});
    trace.programs.push_back(program);
    trace.program_of_rank.push_back(static_cast<uint32_t>(rank));
  }
  return trace;
}

TEST(AnalyticalSimulation, ARingShiftCostsOneHop) {
  for (const int32_t count : {2, 8}) {  // with two ranks: an exchange
    const auto answer = SimulateAnalytical(RingShift(count), kFive);
    ASSERT_TRUE(answer.ok());
    for (const auto& rank : answer->ranks) {
      EXPECT_EQ(rank.finish, 5u);
      EXPECT_EQ(rank.comm, 5u);
    }
  }
}

TEST(AnalyticalSimulation, MessagesInOneDirectionQueue) {
  trace::TraceGraph trace;
  trace.programs.resize(2);
  for (const uint64_t id : {1, 2}) {
    Append(trace.programs[0], {.id = id, .kind = NodeKind::kSend, .peer = 1});
    Append(trace.programs[1], {.id = id, .kind = NodeKind::kReceive, .peer = 0});
  }
  trace.program_of_rank = {0, 1};
  const auto answer = SimulateAnalytical(trace, kFive);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ranks[1].finish, 10u);
}

}  // namespace
}  // namespace hespas::simulate
