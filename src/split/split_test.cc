#include "split/split.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ir/test_program.h"

namespace hespas::split {
namespace {

using graph::Block;
using graph::BlockKind;
using ::testing::Contains;

const ir::TestProgram::Texts kPairs = {{"replica_groups", "dense<[[0, 1]]> : tensor<1x2xi64>"}};

// Two collectives, the second of which waits for the first, with computation before, beside and behind.
ir::Module Program() {
  ir::TestProgram program({64});
  const ir::ValueId constant = program.Add("stablehlo.constant", {}, {{"value", "dense<1.0> : tensor<64xf32>"}});
  const ir::ValueId before = program.Add("stablehlo.tanh", {program.argument()});
  const ir::ValueId first = program.Add("stablehlo.all_reduce", {before}, kPairs);
  const ir::ValueId beside = program.Add("stablehlo.add", {before, constant});
  const ir::ValueId between = program.Add("stablehlo.multiply", {first, constant});
  const ir::ValueId second = program.Add("stablehlo.all_reduce", {between}, kPairs);
  const ir::ValueId behind = program.Add("stablehlo.add", {second, beside});
  return std::move(program).Return({behind});
}

class EveryWay : public testing::TestWithParam<Options> {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    auto made = Split(module_, GetParam(), diagnostics);
    ASSERT_TRUE(made.ok()) << Render(made.error());
    graph_ = std::move(*made);
  }

  ir::Module module_ = Program();
  graph::BlockGraph graph_;
};

TEST_P(EveryWay, PutsEachOpIntoOneBlockAndConstantsIntoTheirUsers) {
  std::map<uint32_t, size_t> blocks_of;
  for (const Block& block : graph_.blocks) {
    for (const ir::OpId op : block.ops) ++blocks_of[op.value];
  }
  for (const ir::OpId op : module_.block(module_.body(module_.main())).ops) {
    if (ir::IsTerminator(module_.kind(op))) {
      EXPECT_EQ(blocks_of.count(op.value), 0);
    } else if (module_.op(op).operand_count > 0) {
      EXPECT_EQ(blocks_of[op.value], 1) << module_.name(op);
    } else {
      EXPECT_GE(blocks_of[op.value], 1);
    }
  }
}

TEST_P(EveryWay, LeavesACollectiveABlockOfItsOwn) {
  size_t collectives = 0;
  for (const Block& block : graph_.blocks) {
    const bool communicates = std::any_of(block.ops.begin(), block.ops.end(),
                                          [&](ir::OpId op) { return ir::IsCollective(module_.kind(op)); });
    EXPECT_EQ(communicates, block.kind == BlockKind::kCommunication);
    if (communicates) {
      EXPECT_EQ(block.ops.size(), 1);
    }
    collectives += communicates;
  }
  EXPECT_EQ(collectives, 2);
}

TEST_P(EveryWay, NumbersBlocksInAnOrderInWhichTheyCanRun) {
  std::map<uint32_t, size_t> block_of;                         // by value
  std::vector<std::set<size_t>> before(graph_.blocks.size());  // all that a block waits for
  for (size_t i = 0; i < graph_.blocks.size(); ++i) {
    const Block& block = graph_.blocks[i];
    EXPECT_TRUE(std::is_sorted(block.predecessors.begin(), block.predecessors.end()));
    for (const graph::BlockId predecessor : block.predecessors) {
      ASSERT_LT(predecessor.index(), i);
      before[i].merge(std::set(before[predecessor.index()]));
      before[i].insert(predecessor.index());
    }
    for (const ir::ValueId input : block.inputs) {
      if (!module_.defining_op(input).valid()) continue;
      ASSERT_TRUE(block_of.contains(input.value)) << "block " << i << " runs before its input is made";
      EXPECT_THAT(before[i], Contains(block_of[input.value]));
    }
    for (const ir::ValueId output : block.outputs) block_of[output.value] = i;
  }
}

INSTANTIATE_TEST_SUITE_P(Split, EveryWay,
                         testing::Values(Options{}, Options{.merge = true}, Options{.strategy = Strategy::kLinear},
                                         Options{.strategy = Strategy::kLinear, .block_limit = 1}));

TEST(Split, NothingWaitsForASendInALineOfBlocks) {
  ir::TestProgram program({64});
  const ir::ValueId sent = program.Add("stablehlo.tanh", {program.argument()});
  const ir::ValueId token = program.Add("stablehlo.create_token", {});
  program.Add("stablehlo.send", {sent, token});
  const ir::Module module = std::move(program).Return({program.Add("stablehlo.exponential", {sent})});
  Diagnostics diagnostics;
  const auto graph = Split(module, {.strategy = Strategy::kLinear}, diagnostics);
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->blocks.size(), 3);
  EXPECT_THAT(graph->blocks[1].predecessors, testing::ElementsAre(graph::BlockId(0)));
  EXPECT_THAT(graph->blocks[2].predecessors, testing::ElementsAre(graph::BlockId(0)));
}

TEST(Split, BlocksOfEqualStructureHaveEqualHashes) {
  ir::TestProgram program({64});
  const ir::ValueId once = program.Add("stablehlo.tanh", {program.argument()});
  const ir::ValueId twice = program.Add("stablehlo.tanh", {once});
  const ir::Module module = std::move(program).Return({program.Add("stablehlo.exponential", {twice})});
  Diagnostics diagnostics;
  const auto graph = Split(module, {}, diagnostics);
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->blocks.size(), 3);
  EXPECT_EQ(graph->blocks[0].hash, graph->blocks[1].hash);
  EXPECT_NE(graph->blocks[1].hash, graph->blocks[2].hash);
}

TEST(Split, AProgramWithoutMainIsAnError) {
  Diagnostics diagnostics;
  ir::Module module;
  module.AddOp({}, {.name = module.InternName("builtin.module")});
  const auto graph = Split(module, {}, diagnostics);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().kind->code, kNoMain.code);
}

}  // namespace
}  // namespace hespas::split
