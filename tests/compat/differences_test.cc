// The Python prototype's defects (numbered as in docs/differences.md): each test shows the old behaviour, which
// `--compat prototype` keeps, and the one that is the default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assemble/assemble.h"
#include "assemble/prototype.h"
#include "driver/compat/statistics.h"
#include "driver/compat/trace_bytes.h"
#include "estimate/cost.h"
#include "estimate/estimate_all.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"
#include "ir/printer.h"
#include "read/read.h"
#include "report/chakra.h"
#include "split/prototype.h"
#include "split/split.h"

namespace hespas {
namespace {

using graph::BlockId;
using graph::BlockKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ir::Module Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : Render(module.error()));
  return module.ok() ? *std::move(module) : ir::Module();
}

graph::BlockGraph Split(const ir::Module& module, split::Options options) {
  Diagnostics diagnostics;
  auto graph = split::Split(module, options, diagnostics);
  EXPECT_TRUE(graph.ok());
  return graph.ok() ? *std::move(graph) : graph::BlockGraph{};
}

std::vector<std::string> Names(const ir::Module& module, const graph::Block& block) {
  std::vector<std::string> names;
  for (const ir::OpId op : block.ops) {
    const std::string_view name = module.name(op);
    names.emplace_back(name.substr(name.find('.') + 1));
  }
  return names;
}

std::vector<size_t> Predecessors(const graph::Block& block) {
  std::vector<size_t> ids;
  for (const BlockId p : block.predecessors) ids.push_back(p.index());
  return ids;
}

// The first op of that name in `main`.
ir::OpId Find(const ir::Module& module, std::string_view name) {
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.name(op) == name) return op;
  }
  ADD_FAILURE() << "no " << name;
  return ir::OpId();
}

hardware::Device TestDevice() {
  hardware::Device device;
  device.name = "test";
  device.peak_flops = {1e12};
  device.per_datatype_flops = {{"f32", {1e12}}, {"tf32", {8e12}}, {"bf16", {16e12}}, {"i32", {1e12}}};
  device.vector_flops = {{"bf16", {2e12}}};
  device.memory_bandwidth = {1e12};
  return device;
}

estimate::PrototypeRates TestRates() { return estimate::PrototypeRates::Of(TestDevice()); }

graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op) {
  estimate::Notes notes;
  return estimate::Roofline(TestDevice()).EstimateOp(module, op, notes);
}

Result<trace::TraceGraph> Trace(const ir::Module& module, assemble::Options options, Diagnostics& diagnostics) {
  const auto graph = Split(module, {.compat = options.compat});
  const auto table = estimate::EstimateAll(graph, estimate::Roofline(TestDevice()), nullptr, {}, diagnostics);
  EXPECT_TRUE(table.ok());
  return assemble::Assemble(module, graph, *table, options, diagnostics);
}

constexpr char kBodyOfReduction[] = R"(({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }))";

std::string AllReduce(const std::string& result, const std::string& operand, const std::string& groups,
                      const std::string& type = "tensor<8xf32>") {
  return "    " + result + " = \"stablehlo.all_reduce\"(" + operand + ") <{replica_groups = " + groups + "}> " +
         kBodyOfReduction + " : (" + type + ") -> " + type + "\n";
}

std::string Main(const std::string& arguments, const std::string& result, const std::string& body,
                 const std::string& attributes = "") {
  return "module @m" + attributes + " {\n  func.func public @main(" + arguments + ") -> " + result + " {\n" + body +
         "  }\n}\n";
}

constexpr char kPair[] = "dense<[[0, 1]]> : tensor<1x2xi64>";

std::string ChainAroundAllReduce() {
  return Main("%a: tensor<8xf32>", "tensor<8xf32>",
              "    %0 = stablehlo.tanh %a : tensor<8xf32>\n" + AllReduce("%1", "%0", kPair) +
                  "    %2 = stablehlo.negate %1 : tensor<8xf32>\n    return %2 : tensor<8xf32>\n");
}

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
  EXPECT_EQ(EstimateOp(module, loop).flops.value, 12 * (1024 + 1 + 1));  // tanh, the step and the test
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
}  // namespace hespas
