#include "assemble/assemble.h"

#include <gmock/gmock.h>

#include <set>

#include "ir/test_program.h"

namespace hespas::assemble {
namespace {

using ::testing::ElementsAre;
using trace::NodeKind;

constexpr Time kCompute(12'345);

// A computation and behind it one communication, each a block.
struct Case {
  ir::Module module;
  graph::BlockGraph blocks;
  graph::EstimateTable estimates;
};

Case Make(std::string_view name, const ir::TestProgram::Texts& texts) {
  ir::TestProgram program({64});
  const ir::ValueId computed = program.Add("stablehlo.tanh", {program.argument()});
  const ir::ValueId sent = program.Add(name, {computed}, texts);
  Case out;
  out.module = std::move(program).Return({sent});
  const ir::OpId ops[] = {out.module.defining_op(computed), out.module.defining_op(sent)};
  graph::Block compute = {.ops = {ops[0]}, .inputs = {}, .outputs = {computed}, .predecessors = {}, .hash = {}};
  graph::Block communication = {.kind = graph::BlockKind::kCommunication,
                                .ops = {ops[1]},
                                .inputs = {computed},
                                .outputs = {sent},
                                .predecessors = {graph::BlockId(size_t{0})},
                                .hash = {}};
  out.blocks.blocks = {compute, communication};
  graph::Estimate estimate;
  estimate.time = kCompute;
  out.estimates.unique = {estimate};
  out.estimates.of_block = {0, graph::EstimateTable::kNone};
  out.estimates.first = {graph::BlockId(size_t{0})};
  return out;
}

Result<trace::TraceGraph> AssembleCase(Case& one, const Options& options = {}) {
  Diagnostics diagnostics;
  one.blocks.module = &one.module;
  return Assemble(one.module, one.blocks, one.estimates, options, diagnostics);
}

Case AllReduce(const std::string& groups) { return Make("stablehlo.all_reduce", {{"replica_groups", groups}}); }

uint32_t GroupOf(const trace::TraceGraph& trace, uint32_t rank, const trace::Node& node) {
  return node.per_rank ? trace.arguments[rank].groups[node.group] : node.group;
}

TEST(Assemble, EveryMemberOfAGroupTakesPart) {
  Case one = AllReduce("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>");
  const auto trace = AssembleCase(one);
  ASSERT_TRUE(trace.ok()) << Render(trace.error());
  ASSERT_EQ(trace->program_of_rank.size(), 4);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const auto& nodes = trace->ProgramOf(rank).nodes;
    ASSERT_EQ(nodes.size(), 2);
    ASSERT_EQ(nodes[1].kind, NodeKind::kCollective);
    const auto members = trace->groups.at(GroupOf(*trace, rank, nodes[1]));
    EXPECT_THAT(members, ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
    EXPECT_EQ(nodes[1].size, Bytes(256));
  }
}

TEST(Assemble, RanksThatDifferInGroupsAloneShareAProgram) {
  Case one = AllReduce("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>");
  const auto trace = AssembleCase(one);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->programs.size(), 1);
  EXPECT_NE(GroupOf(*trace, 0, trace->ProgramOf(0).nodes[1]), GroupOf(*trace, 2, trace->ProgramOf(2).nodes[1]));
}

TEST(Assemble, DurationsAndDependenciesAreThoseOfTheBlocks) {
  Case one = AllReduce("dense<[[0, 1]]> : tensor<1x2xi64>");
  const auto trace = AssembleCase(one);
  ASSERT_TRUE(trace.ok());
  const trace::Program& program = trace->ProgramOf(0);
  EXPECT_EQ(program.nodes[0].duration, kCompute);
  ASSERT_EQ(program.nodes[1].dependency_count, 1);
  EXPECT_EQ(program.dependencies[program.nodes[1].first_dependency], program.nodes[0].id);
}

TEST(Assemble, AllGathersCarryWhatEachMemberContributes) {
  Case one = Make("stablehlo.all_gather",
                  {{"replica_groups", "dense<[[0, 1]]> : tensor<1x2xi64>"}, {"all_gather_dim", "0 : i64"}});
  const auto trace = AssembleCase(one);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ProgramOf(0).nodes[1].size, Bytes(256));
}

TEST(Assemble, APermuteSendsAndReceivesPairByPair) {
  Case one =
      Make("stablehlo.collective_permute", {{"source_target_pairs", "dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"}});
  const auto trace = AssembleCase(one, {.num_npus = 3});
  ASSERT_TRUE(trace.ok()) << Render(trace.error());
  const auto kinds = [&](uint32_t rank) {
    std::multiset<NodeKind> out;
    for (const trace::Node& node : trace->ProgramOf(rank).nodes) out.insert(node.kind);
    return out;
  };
  EXPECT_EQ(kinds(0), (std::multiset<NodeKind>{NodeKind::kCompute, NodeKind::kSend}));
  EXPECT_EQ(kinds(1), (std::multiset<NodeKind>{NodeKind::kCompute, NodeKind::kSend, NodeKind::kReceive}));
  EXPECT_EQ(kinds(2), (std::multiset<NodeKind>{NodeKind::kCompute, NodeKind::kReceive}));
}

TEST(Assemble, GroupsAreCheckedAgainstTheNumberOfNpus) {
  Case four = AllReduce("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>");
  const auto few = AssembleCase(four, {.num_npus = 2});
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().kind->code, kTooFewNpus.code);
  Case twice = AllReduce("dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>");
  const auto repeated = AssembleCase(twice);
  ASSERT_FALSE(repeated.ok());
  EXPECT_EQ(repeated.error().kind->code, kRepeatedMember.code);
}

}  // namespace
}  // namespace hespas::assemble
