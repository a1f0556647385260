// The Python prototype's defects (numbered as in docs/differences.md), from 16 on: each test shows the old
// behaviour, which `--compat prototype` keeps, and the one that is the default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "differences.h"
#include "driver/compat/trace_bytes.h"
#include "estimate/cost.h"
#include "ir/printer.h"
#include "report/export/chakra.h"
#include "split/prototype.h"

namespace hespas::differences {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Differences, Q16ReplicaGroupsMeanWhatTheirModeSays) {
  // Two replicas of two partitions; groups of replica ids, once for each partition.
  const std::string program =
      Main("%a: tensor<8xf32>", "tensor<8xf32>", AllReduce("%0", "%a", kPair) + "    return %0 : tensor<8xf32>\n",
           " attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32}");
  const ir::Module module = Parse(program);
  Diagnostics diagnostics;
  const auto old = Trace(module, {.num_npus = 4, .compat = true}, diagnostics);
  EXPECT_THAT(old->groups.at(1), ElementsAre(0, 1));
  EXPECT_THAT(old->groups, SizeIs(1));
  const auto now = Trace(module, {}, diagnostics);
  ASSERT_TRUE(now.ok());
  EXPECT_THAT(now->program_of_rank, SizeIs(4));
  EXPECT_THAT(now->groups.at(1), ElementsAre(0, 2));
  EXPECT_THAT(now->groups.at(2), ElementsAre(1, 3));
}

TEST(Differences, Q16PaddingIsNoDevice) {
  const ir::Module module = Parse(Main(
      "%a: tensor<8xf32>", "tensor<8xf32>",
      AllReduce("%0", "%a", "dense<[[0, 1, 2], [3, 4, -1]]> : tensor<2x3xi64>") + "    return %0 : tensor<8xf32>\n"));
  Diagnostics diagnostics;
  const auto now = Trace(module, {}, diagnostics);
  ASSERT_TRUE(now.ok()) << now.error().message;
  EXPECT_THAT(now->program_of_rank, SizeIs(5));
  EXPECT_THAT(now->groups.at(2), ElementsAre(3, 4));
}

TEST(Differences, Q16TooFewNpusIsAnError) {
  const ir::Module module = Parse(ChainAroundAllReduce());
  Diagnostics diagnostics;
  const auto refused = Trace(module, {.num_npus = 1}, diagnostics);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind->code, "E0601");
  EXPECT_GT(refused.error().location.line, 0u);
}

TEST(Differences, Q25RegionsInCalleesAreNotCountedTwice) {
  const ir::Module module = Parse(R"(module @m {
  func.func private @f(%a: tensor<4xf32>, %x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.reduce(%a init: %x) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func public @main(%a: tensor<4xf32>, %x: tensor<f32>) -> tensor<f32> {
    %0 = call @f(%a, %x) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
})");
  const ir::OpId call = Find(module, "func.call");
  const auto old = estimate::PrototypeExpansion(module, call);
  EXPECT_THAT(old, SizeIs(3));  // reduce, and the add and return within it
  EXPECT_EQ(EstimateOp(module, call).flops.value, 3);
}

TEST(Differences, Q27BooleansTakeAByte) {
  const ir::Module module = Parse(Main("%a: tensor<10xi1>, %b: tensor<0xf32>", "tensor<10xi1>", R"(
    %0 = stablehlo.not %a : tensor<10xi1>
    %1 = stablehlo.negate %b : tensor<0xf32>
    return %0 : tensor<10xi1>
)"));
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, Find(module, "stablehlo.not"), TestRates()).bytes, 2 + 2);
  EXPECT_EQ(estimate::CostOf(module, Find(module, "stablehlo.not")).bytes, 20);
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, Find(module, "stablehlo.negate"), TestRates()).bytes, 2);
  EXPECT_EQ(estimate::CostOf(module, Find(module, "stablehlo.negate")).bytes, 0);
}

TEST(Differences, Q28DynamicShapesAndTokensAreToldAndSurvived) {
  const ir::Module module = Parse(Main("%a: tensor<?xf32>, %t: !stablehlo.token", "tensor<?xf32>", R"(
    %0 = stablehlo.negate %a : tensor<?xf32>
    %1 = stablehlo.after_all %t : !stablehlo.token
    return %0 : tensor<?xf32>
)"));
  Diagnostics diagnostics;
  const auto table =
      estimate::EstimateAll(Split(module, {}), estimate::Roofline(TestDevice()), nullptr, {}, diagnostics);
  ASSERT_TRUE(table.ok());
  ASSERT_THAT(diagnostics.all(), SizeIs(1));
  EXPECT_EQ(diagnostics.all()[0].kind->code, "W0512");
}

TEST(Differences, Q29NoEmptyBlocks) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>",
                                       "    %0 = stablehlo.tanh %a : tensor<8xf32>\n" + AllReduce("%1", "%0", kPair) +
                                           "    return %1 : tensor<8xf32>\n"));
  const auto old = split::SplitAsPrototype(module, {.strategy = split::Strategy::kLinear, .compat = true});
  ASSERT_TRUE(old.ok());
  EXPECT_THAT(old->blocks, SizeIs(3));  // the last holds `return` alone
  EXPECT_EQ(old->empty_count(), 1u);
  const auto now = Split(module, {.strategy = split::Strategy::kLinear});
  EXPECT_THAT(now.blocks, SizeIs(2));
}

constexpr char kCountingLoop[] = R"(
    %c = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<24> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<1024xf32>
     cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %s = stablehlo.constant dense<2> : tensor<i32>
      %2 = stablehlo.add %i, %s : tensor<i32>
      %3 = stablehlo.tanh %x : tensor<1024xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<1024xf32>
    }
    return %0#1 : tensor<1024xf32>
)";

TEST(Differences, Q30LoopsCountTheirIterations) {
  const ir::Module module = Parse(Main("%a: tensor<1024xf32>", "tensor<1024xf32>", kCountingLoop));
  const ir::OpId loop = Find(module, "stablehlo.while");
  EXPECT_FALSE(estimate::EstimatePrototypeOp(module, loop, TestRates()).handled);
  EXPECT_EQ(EstimateOp(module, loop).flops.value,
            12 * (1024 + 1));  // tanh and the step; XLA does not run the test of a known number of iterations
}

TEST(Differences, Q31RanksShareProgramsByClass) {
  const ir::Module module = Parse(
      Main("%a: tensor<8xf32>", "tensor<8xf32>",
           AllReduce("%0", "%a", "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>") + "    return %0 : tensor<8xf32>\n"));
  Diagnostics diagnostics;
  const auto now = Trace(module, {}, diagnostics);
  EXPECT_THAT(now->programs, SizeIs(1));
  const trace::Node& node = now->programs[0].nodes[0];
  std::vector<uint32_t> groups;
  for (uint32_t rank = 0; rank < 4; ++rank) groups.push_back(now->GroupOf(rank, node));
  EXPECT_THAT(groups, ElementsAre(1, 1, 2, 2));
  // The files, old and new: old_and_new_test.py.
}

TEST(Differences, Q32NodesAreNamedByTheirOps) {
  const ir::Module module = Parse(ChainAroundAllReduce());
  const auto names = [&](bool compat) {
    Diagnostics diagnostics;
    const auto trace = Trace(module, {.num_npus = 2, .compat = compat}, diagnostics);
    std::vector<std::string> out;
    for (const trace::Node& node : trace->programs[0].nodes) out.push_back(node.name);
    return out;
  };
  EXPECT_THAT(names(true), ElementsAre("COMP_NODE", "COMM_COLL_NODE", "COMP_NODE"));
  EXPECT_THAT(names(false), ElementsAre("stablehlo.tanh", "stablehlo.all_reduce", "stablehlo.negate"));
}

TEST(Differences, Q35HalvesRoundToEvenAndAreCarried) {
  EXPECT_EQ(driver::compat::Microseconds(2.5e-6), 2);
  EXPECT_EQ(driver::compat::Microseconds(3.5e-6), 4);
  EXPECT_EQ(driver::compat::Microseconds(-1e-6), 0);
  trace::Program program;
  for (uint64_t id = 0; id < 2; ++id) program.nodes.push_back({.id = id, .duration = Time(2'500'000)});
  const std::string bytes = report::EncodeChakra(program);  // field 7: 2 us, and 3 with what was left over
  EXPECT_LT(bytes.find("\x38\x02"), bytes.find("\x38\x03"));
  EXPECT_NE(bytes.find("\x38\x03"), std::string::npos);
}

// Reuse of estimates, also of the prototype's cache, whose block modules are spelt otherwise than programs.
TEST(Differences, SpellingDoesNotSeparateBlocks) {
  for (const auto& entry : std::filesystem::directory_iterator(HESPAS_SOURCE_DIR "/tests/data/fixtures")) {
    if (entry.path().extension() != ".gz") continue;
    Diagnostics diagnostics;
    const auto pretty = read::ReadProgram(entry.path().string(), {}, diagnostics);
    ASSERT_TRUE(pretty.ok()) << entry.path();
    const ir::Module generic = Parse(ir::PrintGeneric(*pretty));
    for (const bool compat : {false, true}) {
      const auto a = Split(*pretty, {.strategy = split::Strategy::kIndividual, .compat = compat});
      const auto b = Split(generic, {.strategy = split::Strategy::kIndividual, .compat = compat});
      ASSERT_EQ(a.blocks.size(), b.blocks.size());
      for (size_t i = 0; i < a.blocks.size(); ++i) {
        EXPECT_EQ(a.blocks[i].hash, b.blocks[i].hash)
            << entry.path() << " block " << i << " " << testing::PrintToString(Names(*pretty, a.blocks[i]));
      }
    }
  }
}

TEST(Differences, LocationsDoNotSeparateBlocks) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>", R"(
    %0 = stablehlo.tanh %a : tensor<8xf32> loc("one")
    %1 = stablehlo.tanh %0 : tensor<8xf32> loc("two")
    return %1 : tensor<8xf32>
)"));
  for (const bool compat : {false, true}) {
    const auto graph = Split(module, {.strategy = split::Strategy::kIndividual, .compat = compat});
    ASSERT_THAT(graph.blocks, SizeIs(2));
    EXPECT_EQ(graph.blocks[0].hash, graph.blocks[1].hash);
  }
}

TEST(Differences, BitcastsAreFree) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<2x4xf32>", R"(
    %0 = "mhlo.bitcast"(%a) : (tensor<8xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
)"));
  const ir::OpId bitcast = Find(module, "mhlo.bitcast");
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, bitcast, TestRates()).bytes, 64);
  EXPECT_EQ(estimate::CostOf(module, bitcast).bytes, 0);
}

}  // namespace
}  // namespace hespas::differences
