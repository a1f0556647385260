// The Python prototype's defects (numbered as in docs/differences.md), 1 to 15: each test shows the old
// behaviour, which `--compat prototype` keeps, and the one that is the default.
#include "differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assemble/prototype.h"
#include "driver/compat/statistics.h"
#include "estimate/cost.h"
#include "report/export/chakra.h"

namespace hespas::differences {
namespace {

using graph::BlockId;
using graph::BlockKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Differences, Q01LinearChainRunsForward) {
  const ir::Module module = Parse(ChainAroundAllReduce());
  const auto old = Split(module, {.strategy = split::Strategy::kLinear, .compat = true});
  ASSERT_THAT(old.blocks, SizeIs(3));
  EXPECT_THAT(Names(module, old.blocks[0]), ElementsAre("negate"));
  EXPECT_THAT(Names(module, old.blocks[2]), ElementsAre("tanh"));
  const auto now = Split(module, {.strategy = split::Strategy::kLinear});
  ASSERT_THAT(now.blocks, SizeIs(3));
  EXPECT_THAT(Names(module, now.blocks[0]), ElementsAre("tanh"));
  EXPECT_THAT(Predecessors(now.blocks[1]), ElementsAre(0));
  EXPECT_THAT(Predecessors(now.blocks[2]), ElementsAre(1));
}

TEST(Differences, Q02CollectivePermuteIsMessages) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>", R"(
    %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
)"));
  Diagnostics diagnostics;
  const auto old = Trace(module, {.num_npus = 2, .compat = true}, diagnostics);
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->programs[0].nodes[0].collective, trace::Collective::kAllToAll);
  const auto now = Trace(module, {}, diagnostics);
  ASSERT_TRUE(now.ok());
  ASSERT_THAT(now->program_of_rank, SizeIs(2));
  const auto& nodes = now->programs[now->program_of_rank[0]].nodes;
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[0].kind, trace::NodeKind::kSend);
  EXPECT_EQ(now->PeerOf(0, nodes[0]), 1);
  EXPECT_EQ(nodes[0].size.value, 32);
  EXPECT_EQ(nodes[1].kind, trace::NodeKind::kReceive);
}

TEST(Differences, Q03CollectivesAreNeverMerged) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>",
                                       R"(
    %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> )" +
                                           std::string(kBodyOfReduction) + R"( : (tensor<8xf32>) -> tensor<4xf32>
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
)"));
  const auto old = Split(module, {.merge = true, .compat = true});
  ASSERT_THAT(old.blocks, SizeIs(1));
  const auto what = assemble::DescribeAsPrototype(module, old.blocks[0]);
  EXPECT_EQ(what.kind, trace::Collective::kAllGather);
  EXPECT_EQ(what.size, 32);
  const auto now = Split(module, {.merge = true});
  ASSERT_THAT(now.blocks, SizeIs(2));
  EXPECT_THAT(Predecessors(now.blocks[1]), ElementsAre(0));
}

// A matmul feeds an all-reduce and more computation; merging that computation with the matmul (as the prototype does,
// since it has one predecessor) would delay the all-reduce.
TEST(Differences, MergeDelaysNoCollective) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "(tensor<8xf32>, tensor<8xf32>)",
                                       "    %0 = stablehlo.tanh %a : tensor<8xf32>\n"
                                       "    %1 = stablehlo.negate %0 : tensor<8xf32>\n" +
                                           AllReduce("%2", "%1", kPair) +
                                           "    %3 = stablehlo.sine %1 : tensor<8xf32>\n"
                                           "    %4 = stablehlo.cosine %3 : tensor<8xf32>\n"
                                           "    return %2, %4 : tensor<8xf32>, tensor<8xf32>\n"));
  const auto old = Split(module, {.merge = true, .compat = true});
  ASSERT_THAT(old.blocks, SizeIs(2));
  EXPECT_THAT(Names(module, old.blocks[0]), ElementsAre("tanh", "negate", "sine", "cosine"));
  const auto now = Split(module, {.merge = true});
  ASSERT_THAT(now.blocks, SizeIs(3));
  EXPECT_THAT(Names(module, now.blocks[0]), ElementsAre("tanh", "negate"));
  EXPECT_EQ(now.blocks[1].kind, BlockKind::kCommunication);
  EXPECT_THAT(Names(module, now.blocks[2]), ElementsAre("sine", "cosine"));
  EXPECT_THAT(Predecessors(now.blocks[2]), ElementsAre(0));
}

TEST(Differences, Q04RoundingToMicrosecondsLosesNothing) {
  trace::Program program;
  for (uint64_t id = 0; id < 10; ++id) program.nodes.push_back({.id = id, .duration = Time(400'000)});  // 0.4 us each
  const std::string bytes = report::EncodeChakra(program);
  // The prototype rounds every node on its own: ten zeros. Here four of them say one microsecond (field 7, varint 1),
  // and all keep their exact time.
  size_t ones = 0;
  for (size_t at = bytes.find("\x38\x01"); at != std::string::npos; at = bytes.find("\x38\x01", at + 1)) ++ones;
  EXPECT_EQ(ones, 4u);
  size_t exact = 0;
  for (size_t at = bytes.find("duration_ps"); at != std::string::npos; at = bytes.find("duration_ps", at + 1)) ++exact;
  EXPECT_EQ(exact, 10u);
}

TEST(Differences, Q05SizesAreWhatAstraSimReads) {
  const ir::Module module = Parse(Main("%a: tensor<4xf32>", "tensor<4xf32>",
                                       R"(
    %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    %1 = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> )" +
                                           std::string(kBodyOfReduction) + R"( : (tensor<8xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
)"));
  const auto sizes = [&](bool compat) {
    Diagnostics diagnostics;
    const auto trace = Trace(module, {.num_npus = 2, .compat = compat}, diagnostics);
    std::vector<int64_t> out;
    for (const trace::Node& node : trace->programs[0].nodes) out.push_back(node.size.value);
    return out;
  };
  EXPECT_THAT(sizes(true), ElementsAre(32, 16));
  EXPECT_THAT(sizes(false), ElementsAre(16, 32));  // bytes contributed; the full buffer
}

TEST(Differences, Q06CapturedValuesAreOperands) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>, %p: tensor<i1>", "tensor<8xf32>", R"(
    %0 = stablehlo.tanh %a : tensor<8xf32>
    %1 = "stablehlo.if"(%p) ({
      %2 = stablehlo.negate %0 : tensor<8xf32>
      stablehlo.return %2 : tensor<8xf32>
    }, {
      stablehlo.return %0 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
)"));
  const auto old = Split(module, {.compat = true});
  EXPECT_THAT(Predecessors(old.blocks[1]), IsEmpty());
  EXPECT_THAT(old.blocks[1].inputs, SizeIs(1));
  const auto now = Split(module, {});
  EXPECT_THAT(Predecessors(now.blocks[1]), ElementsAre(0));
  EXPECT_THAT(now.blocks[1].inputs, SizeIs(2));
}

TEST(Differences, Q07ValuesUsedInsideAndOutsideAreOutputs) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "(tensor<8xf32>, tensor<8xf32>)", R"(
    %0 = stablehlo.tanh %a : tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
)"));
  const auto old = Split(module, {.strategy = split::Strategy::kLinear, .compat = true});
  EXPECT_THAT(old.blocks[0].outputs, SizeIs(1));
  const auto now = Split(module, {.strategy = split::Strategy::kLinear});
  EXPECT_THAT(now.blocks[0].outputs, SizeIs(2));
}

TEST(Differences, Q08ConvolutionsFollowTheirDimensionNumbers) {
  // An input gradient as JAX writes it: kernel [0, 1, o, i], zeros of dilation between the elements of the input.
  const ir::Module module = Parse(Main("%a: tensor<1x4x4x16xf32>, %k: tensor<3x3x8x16xf32>", "tensor<1x8x8x8xf32>", R"(
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<3x3x8x16xf32>) -> tensor<1x8x8x8xf32>
    return %0 : tensor<1x8x8x8xf32>
)"));
  const ir::OpId op = Find(module, "stablehlo.convolution");
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, op, TestRates()).flops, 2 * 8 * 8 * 8 * 3 * 3 * 8);
  // 16 input features; of 8 x 3 pairs of positions along a dimension, 12 meet an element of the input.
  EXPECT_EQ(estimate::ContractionFlops(module, op), 2 * 12 * 12 * 8 * 16);
}

TEST(Differences, Q08GroupsDivideTheWork) {
  const ir::Module module = Parse(Main("%a: tensor<1x8x8x16xf32>, %k: tensor<3x3x1x16xf32>", "tensor<1x6x6x16xf32>", R"(
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
    return %0 : tensor<1x6x6x16xf32>
)"));
  EXPECT_EQ(estimate::ContractionFlops(module, Find(module, "stablehlo.convolution")), 2 * 6 * 6 * 16 * 3 * 3);
}

TEST(Differences, Q09EnergyIsSummed) {
  const driver::compat::Rates rates{.peak_flops = 1e12, .memory_bandwidth = 1e12, .tdp_w = 100, .hbm_power_ratio = 0.5};
  const auto energy = [&](bool compat) {
    driver::compat::Statistics statistics(rates, compat);
    for (const double seconds : {4.0, 1.0}) {
      const auto bytes = static_cast<int64_t>(seconds * 1e12);
      statistics.AddModule("m", {{.name = "op", .datatype = "f32", .seconds = seconds, .bytes = bytes}}, 1, 0);
    }
    statistics.Finish(0);
    const std::string json = statistics.ToJson();
    const size_t at = json.rfind("\"total_energy\": ");
    return std::stod(json.substr(at + 16));
  };
  EXPECT_DOUBLE_EQ(energy(true), 50.0);    // 50 W for the last module's second
  EXPECT_DOUBLE_EQ(energy(false), 250.0);  // 50 W for five seconds
}

TEST(Differences, Q10EveryContractionMayUseTf32) {
  const ir::Module module = Parse(Main("%a: tensor<256x256xf32>, %b: tensor<256x256xbf16>", "tensor<256x256xbf16>", R"(
    %0 = stablehlo.dot %a, %a : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.add %b, %b : tensor<256x256xbf16>
    return %1 : tensor<256x256xbf16>
)"));
  const ir::OpId dot = Find(module, "stablehlo.dot");
  const double flops = 2.0 * 256 * 256 * 256;
  EXPECT_DOUBLE_EQ(estimate::EstimatePrototypeOp(module, dot, TestRates()).seconds, flops / 1e12);
  EXPECT_EQ(EstimateOp(module, dot).terms[0].time, Time::Seconds(flops / 8e12));
  // Elementwise work runs at the vector rate, not at that of the tensor cores.
  const ir::OpId add = Find(module, "stablehlo.add");
  EXPECT_EQ(EstimateOp(module, add).terms[0].time, Time::Seconds(256.0 * 256 / 2e12));
}

TEST(Differences, Q10HighPrecisionForbidsTf32) {
  const ir::Module module = Parse(Main("%a: tensor<256x256xf32>", "tensor<256x256xf32>", R"(
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
)"));
  EXPECT_EQ(EstimateOp(module, Find(module, "stablehlo.dot_general")).terms[0].time,
            Time::Seconds(2.0 * 256 * 256 * 256 / 1e12));
}

std::string TwoUsersOfDerivedConstant() {
  return Main("%a: tensor<8xf32>", "tensor<8xf32>", R"(
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.multiply %0, %b : tensor<8xf32>
    return %1 : tensor<8xf32>
)");
}

TEST(Differences, Q11DerivedConstantsAreMadeOnce) {
  const ir::Module module = Parse(TwoUsersOfDerivedConstant());
  const auto count = [&](bool compat) {
    size_t broadcasts = 0;
    for (const graph::Block& block : Split(module, {.compat = compat}).blocks) {
      for (const std::string& name : Names(module, block)) broadcasts += name == "broadcast_in_dim";
    }
    return broadcasts;
  };
  EXPECT_EQ(count(true), 2u);
  EXPECT_EQ(count(false), 1u);
}

TEST(Differences, Q11CollectivesOfConstantsCommunicate) {
  const ir::Module module =
      Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>",
                 "    %c = stablehlo.constant dense<1.0> : tensor<8xf32>\n" + AllReduce("%0", "%c", kPair) +
                     "    %1 = stablehlo.add %a, %0 : tensor<8xf32>\n    return %1 : tensor<8xf32>\n"));
  const auto old = Split(module, {.compat = true});
  ASSERT_THAT(old.blocks, SizeIs(1));
  EXPECT_EQ(old.blocks[0].kind, BlockKind::kCompute);
  const auto now = Split(module, {});
  ASSERT_THAT(now.blocks, SizeIs(2));
  EXPECT_EQ(now.blocks[0].kind, BlockKind::kCommunication);
  EXPECT_THAT(Names(module, now.blocks[0]), ElementsAre("all_reduce"));
}

TEST(Differences, Q12FusionsReadWhatTheyTouch) {
  const ir::Module module = Parse(Main("%a: tensor<1024xf32>", "tensor<8xf32>", R"(
    %0 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
    ^bb0(%x: tensor<1024xf32>):
      %1 = stablehlo.slice %x [0:8] : (tensor<1024xf32>) -> tensor<8xf32>
      %2 = stablehlo.negate %1 : tensor<8xf32>
      mhlo.return %2 : tensor<8xf32>
    }) : (tensor<1024xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
)"));
  const ir::OpId fusion = Find(module, "mhlo.fusion");
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, fusion, TestRates()).bytes, 4096 + 32);
  EXPECT_EQ(estimate::CostOf(module, fusion).bytes, 32 + 32);
}

TEST(Differences, Q13OnlyTouchedBytesMove) {
  const ir::Module module = Parse(
      Main("%t: tensor<1000x16xf32>, %i: tensor<4x1xi32>, %u: tensor<4x16xf32>, %z: tensor<i32>", "tensor<1000x16xf32>",
           R"(
    %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<1000x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
    %1 = stablehlo.dynamic_update_slice %t, %u, %z, %z : (tensor<1000x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x16xf32>
    %2 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> )" +
               std::string(kBodyOfReduction) +
               R"( : (tensor<1000x16xf32>, tensor<4x1xi32>, tensor<4x16xf32>) -> tensor<1000x16xf32>
    return %2 : tensor<1000x16xf32>
)"));
  const int64_t table = 64000;
  const int64_t rows = 256;
  const auto old = [&](std::string_view name) {
    return estimate::EstimatePrototypeOp(module, Find(module, name), TestRates()).bytes;
  };
  const auto now = [&](std::string_view name) { return estimate::CostOf(module, Find(module, name)).bytes; };
  EXPECT_EQ(old("stablehlo.gather"), table + 16 + rows);
  EXPECT_EQ(now("stablehlo.gather"), 2 * rows + 16);
  EXPECT_EQ(old("stablehlo.dynamic_update_slice"), 2 * table + rows);
  EXPECT_EQ(now("stablehlo.dynamic_update_slice"), 2 * rows);
  EXPECT_EQ(old("stablehlo.scatter"), 2 * table);
  EXPECT_EQ(now("stablehlo.scatter"), 3 * rows + 16);
}

TEST(Differences, Q14AllOperandsOfAVariadicReduceCount) {
  const ir::Module module =
      Parse(Main("%a: tensor<8x16xf32>, %b: tensor<8x16xi32>, %x: tensor<f32>, %y: tensor<i32>", "tensor<8xf32>", R"(
    %0:2 = "stablehlo.reduce"(%a, %b, %x, %y) <{dimensions = array<i64: 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
      %1 = stablehlo.maximum %p, %r : tensor<f32>
      stablehlo.return %1, %q : tensor<f32>, tensor<i32>
    }) : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    %2 = stablehlo.power %0#0, %0#0 : tensor<8xf32>
    return %2 : tensor<8xf32>
)"));
  const ir::OpId reduce = Find(module, "stablehlo.reduce");
  const auto old = estimate::EstimatePrototypeOp(module, reduce, TestRates());
  EXPECT_EQ(old.flops, 15 * 8);
  EXPECT_EQ(old.bytes, 512 + 32);
  const auto now = estimate::CostOf(module, reduce);
  EXPECT_EQ(now.flops, 2 * 15 * 8);
  EXPECT_EQ(now.bytes, 2 * (512 + 32 + 4));
  const ir::OpId power = Find(module, "stablehlo.power");
  EXPECT_EQ(estimate::EstimatePrototypeOp(module, power, TestRates()).bytes, 2 * 32);
  EXPECT_EQ(estimate::CostOf(module, power).bytes, 3 * 32);
}

TEST(Differences, Q15OpsWithoutRuleAreEstimatedByTheirBytes) {
  const ir::Module module = Parse(Main("%a: tensor<8xf32>", "tensor<8xf32>", R"(
    %0 = stablehlo.custom_call @something_new(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.floor %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
)"));
  EXPECT_FALSE(estimate::EstimatePrototypeOp(module, Find(module, "stablehlo.floor"), TestRates()).handled);
  EXPECT_EQ(estimate::CostOf(module, Find(module, "stablehlo.floor")).bytes, 64);
  const auto graph = Split(module, {});
  Diagnostics lenient;
  const auto table = estimate::EstimateAll(graph, estimate::Roofline(TestDevice()), nullptr, {}, lenient);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->Of(BlockId(size_t{0}))->bytes.value, 64);
  ASSERT_THAT(lenient.all(), SizeIs(1));
  EXPECT_EQ(lenient.all()[0].kind->code, "W0511");
  Diagnostics strict;
  const auto refused =
      estimate::EstimateAll(graph, estimate::Roofline(TestDevice()), nullptr, {.strict = true}, strict);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind->outcome, Outcome::kUnsupported);
}

}  // namespace
}  // namespace hespas::differences
