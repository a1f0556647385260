// One pass at a time on small programs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ir/printer.h"
#include "optimise/gpu/kernel_time.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Inline, ExpandsCallsAndDropsTheirFunctions) {
  const char* text = R"(
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    })";
  const ir::Module inlined = Optimised(text, Until("inline"));
  EXPECT_THAT(Names(inlined), ElementsAre("stablehlo.add", "stablehlo.add"));
  EXPECT_FALSE(inlined.FindSymbol("twice").valid());
  const ir::Module kept = Optimised(text, Until("dce", {"inline"}));
  EXPECT_THAT(Names(kept), ElementsAre("func.call", "func.call"));
  EXPECT_TRUE(kept.FindSymbol("twice").valid());
}

TEST(Inline, CallsThatMultiplyOrRecurEndSomewhere) {
  std::string text = "func.func private @f0(%x: tensor<4xf32>) -> tensor<4xf32> {\nreturn %x : tensor<4xf32>\n}\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string callee = " = call @f" + std::to_string(i - 1) + "(%";
    text += "func.func private @f" + std::to_string(i) + "(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0" + callee +
            "x) : (tensor<4xf32>) -> tensor<4xf32>\n%1" + callee +
            "0) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %1 : tensor<4xf32>\n}\n";
  }
  text +=
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = call @f40(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "return %0 : tensor<4xf32>\n}";
  const ir::Module module = Optimised(text, Until("inline"));
  EXPECT_TRUE(module.main().valid());
}

optimise::Options OnCpu(const std::string& pass) { return {.target = optimise::Target::kCpu, .stop_after = pass}; }

// XLA's CPU compiler on a softmax (JAX 0.7.2): exponentials are materialized, as the sum's windows need them in memory.
TEST(Cpu, LoopsDuplicateCheapProducers) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
      %8 = stablehlo.constant dense<8.0> : tensor<f32>
      %eight = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<64x1024xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.divide %x, %eight : tensor<64x1024xf32>
      %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
      %3 = stablehlo.subtract %0, %2 : tensor<64x1024xf32>
      %4 = stablehlo.exponential %3 : tensor<64x1024xf32>
      %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
      %7 = stablehlo.divide %4, %6 : tensor<64x1024xf32>
      return %7 : tensor<64x1024xf32>
    })",
                                      OnCpu("dce"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.constant", "stablehlo.constant", "mhlo.fusion",
                                         "stablehlo.reduce_window", "stablehlo.reduce", "mhlo.fusion",
                                         "stablehlo.reduce_window", "stablehlo.reduce", "mhlo.fusion"));
}

TEST(Cpu, LongReductionsBecomeTreesOfWindows) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<2050x8xf32>) -> tensor<8xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2050x8xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })",
                                      OnCpu("reduction-trees"));
  const std::string text = ir::PrintGeneric(module);
  EXPECT_THAT(text, HasSubstr("tensor<65x8xf32>"));
  EXPECT_THAT(text, HasSubstr("padding = dense<[[15, 15], [0, 0]]>"));
  EXPECT_THAT(text, HasSubstr("tensor<3x8xf32>"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.constant", "stablehlo.reduce_window", "stablehlo.reduce_window",
                                         "stablehlo.reduce"));
}

TEST(Cpu, ConvolutionsReadBatchPlacesAndFeaturesInThisOrder) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<8x16x64x32xf32>, %k: tensor<4x16x3x3xf32>) -> tensor<8x4x64x32xf32> {
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x64x32xf32>, tensor<4x16x3x3xf32>) -> tensor<8x4x64x32xf32>
      return %0 : tensor<8x4x64x32xf32>
    })",
                                      OnCpu("canonical-convolutions"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.transpose", "stablehlo.transpose", "stablehlo.convolution",
                                         "stablehlo.transpose"));
  EXPECT_THAT(ir::PrintGeneric(module),
              HasSubstr("(tensor<8x64x32x16xf32>, tensor<3x3x16x4xf32>) -> tensor<8x64x32x4xf32>"));
}

TEST(Cse, EqualLoopsRunOnce) {
  const auto loop = [](const std::string& result, const std::string& step) {
    return "%" + result + R"( = stablehlo.while(%v = %x) : tensor<4xf32>
      cond {
        %t = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %b = stablehlo.)" +
           step + R"( %v : tensor<4xf32>
        stablehlo.return %b : tensor<4xf32>
      }
)";
  };
  const auto program = [&](const std::string& second) {
    return "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + loop("0", "sine") + loop("1", second) +
           "%2 = stablehlo.add %0, %1 : tensor<4xf32>\nreturn %2 : tensor<4xf32>\n}";
  };
  EXPECT_THAT(Names(Optimised(program("sine"), Until("cse"))), ElementsAre("stablehlo.while", "stablehlo.add"));
  EXPECT_THAT(Names(Optimised(program("cosine"), Until("cse"))),
              ElementsAre("stablehlo.while", "stablehlo.while", "stablehlo.add"));
}

TEST(Simplify, RemovesIdentitiesAndMergesBitcasts) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
      %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
      %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
      %4 = stablehlo.convert %3 : tensor<2x3xf32>
      %5 = stablehlo.negate %4 : tensor<2x3xf32>
      return %5 : tensor<2x3xf32>
    })",
                                      Until("simplify"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.negate"));
}

TEST(Simplify, ReducingUnitDimensionsOnlyDropsThem) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<1x8xf32>) -> tensor<8xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })",
                                      Until("simplify"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.reshape"));
}

TEST(Cse, SharesEqualOpsButNotAcrossABarrier) {
  const char* text = R"(
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.exponential %x : tensor<4xf32>
      %1 = stablehlo.exponential %x : tensor<4xf32>
      %2 = stablehlo.optimization_barrier %x : tensor<4xf32>
      %3 = stablehlo.exponential %2 : tensor<4xf32>
      return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    })";
  EXPECT_THAT(Names(Optimised(text, Until("cse"))),
              ElementsAre("stablehlo.exponential", "stablehlo.optimization_barrier", "stablehlo.exponential"));
}

constexpr char kSlicedAllReduce[] = R"(
  func.func @main(%x: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %table = stablehlo.constant dense<[OFFSETS]> : tensor<2xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %id = stablehlo.partition_id : tensor<ui32>
    %at = stablehlo.dynamic_slice %table, %id, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
    %start = stablehlo.reshape %at : (tensor<1xi32>) -> tensor<i32>
    %1 = stablehlo.dynamic_slice %0, %start, %zero, sizes = [4, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  })";

std::string WithOffsets(const std::string& offsets) {
  std::string text = kSlicedAllReduce;
  return text.replace(text.find("OFFSETS"), 7, offsets);
}

TEST(ReduceScatter, IsFormedWhereEachDeviceKeepsItsOwnPart) {
  EXPECT_THAT(Names(Optimised(WithOffsets("0, 4"), Until("reduce-scatter"))), ElementsAre("stablehlo.reduce_scatter"));
}

// As GPUs do, and in the type that the sum is kept in.
TEST(ReduceScatter, IsNarrowOnTpus) {
  std::string text = WithOffsets("0, 4");
  const std::string end = "return %1 : tensor<4x4xf32>";
  text.replace(text.find(end), end.size(),
               "%2 = stablehlo.convert %1 : (tensor<4x4xf32>) -> tensor<4x4xbf16>\n    return %2 : tensor<4x4xbf16>");
  text.replace(text.find("-> tensor<4x4xf32> {"), 20, "-> tensor<4x4xbf16> {");
  optimise::Options options = Until("narrow-all-reduces");
  options.target = optimise::Target::kTpu;
  EXPECT_THAT(Names(Optimised(text, options)), ElementsAre("stablehlo.convert", "stablehlo.reduce_scatter"));
}

TEST(ReduceScatter, IsNotFormedWhereDevicesKeepOtherParts) {
  for (const char* offsets : {"4, 0", "0, 0", "1, 5"}) {
    const auto names = Names(Optimised(WithOffsets(offsets), Until("reduce-scatter")));
    EXPECT_THAT(names, Contains("stablehlo.all_reduce")) << offsets;
    EXPECT_THAT(names, Not(Contains("stablehlo.reduce_scatter"))) << offsets;
  }
}

std::string AllReduce(const std::string& result, const std::string& operand, const std::string& type) {
  return result + " = \"stablehlo.all_reduce\"(" + operand +
         ") <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
         "%s = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : (" +
         type + ") -> " + type + "\n";
}

constexpr char kRowsThenColumns[] = R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<GROUPS> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
})";

std::string WithGroups(const std::string& groups) {
  std::string text = kRowsThenColumns;
  return text.replace(text.find("GROUPS"), 6, groups);
}

TEST(FoldAllReduces, RowsAndColumnsAreSummedAtOnce) {
  const ir::Module module = Optimised(WithGroups("[[0, 2], [1, 3]]"), Until("fold-all-reduces"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.all_reduce"));
  EXPECT_THAT(ir::PrintGeneric(module), HasSubstr("dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"));
}

TEST(FoldAllReduces, ADeviceThatWouldCountTwiceKeepsBoth) {
  EXPECT_EQ(driver::Summarise(Optimised(WithGroups("[[0, 1], [2, 3]]"))).collectives.at(0).count, 2);
}

TEST(Reassociate, SumsBeforeTheAllReduce) {
  const std::string type = "tensor<4xf32>";
  const std::string text = "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n" +
                           AllReduce("%0", "%x", type) + AllReduce("%1", "%y", type) +
                           "%2 = stablehlo.add %0, %1 : tensor<4xf32>\nreturn %2 : tensor<4xf32>\n}";
  EXPECT_THAT(Names(Optimised(text, Until("reassociate"))), ElementsAre("stablehlo.add", "stablehlo.all_reduce"));
}

TEST(Combine, CombinesIndependentAllReducesInOneBuffer) {
  const std::string type = "tensor<4xf32>";
  const std::string text =
      "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n" +
      AllReduce("%0", "%x", type) + AllReduce("%1", "%y", type) + "return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}";
  const driver::Summary summary = driver::Summarise(Optimised(text));
  ASSERT_EQ(summary.collectives.size(), 1u);
  EXPECT_EQ(summary.collectives[0].count, 1);
  EXPECT_EQ(summary.collectives[0].bytes, 32);
  EXPECT_EQ(summary.fusions, 3);  // put together, taken apart twice
}

TEST(Combine, LeavesDependentCollectivesApart) {
  const std::string type = "tensor<4xf32>";
  const std::string text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + AllReduce("%0", "%x", type) +
                           AllReduce("%1", "%0", type) + "return %1 : tensor<4xf32>\n}";
  EXPECT_EQ(driver::Summarise(Optimised(text)).collectives[0].count, 2);
}

constexpr char kDotAndSum[] = R"(
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %r: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.add %0, %r : tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  })";

TEST(CublasCalls, AbsorbTransposesAndTheSumAfter) {
  const ir::Module module = Optimised(std::string(kDotAndSum));
  ASSERT_THAT(Names(module), ElementsAre("stablehlo.custom_call"));
  const ir::OpId call = module.block(module.body(module.main())).ops[0];
  EXPECT_EQ(module.op(call).operand_count, 3u);
  EXPECT_THAT(std::string(*module.attribute(call, "backend_config")), HasSubstr("\\\"beta\\\":1"));
  const driver::Summary summary = driver::Summarise(module);
  EXPECT_EQ(summary.flops, 2 * 64 * 32 * 16);
  EXPECT_EQ(summary.bytes_accessed, 4 * (64 * 32 + 16 * 32 + 2 * 64 * 16));
}

// As XLA has it: the sum over microbatches that JAX writes is one call for each, without a transpose.
TEST(CublasCalls, AddUpGradientsInTheSumsOwnOrder) {
  const ir::Module module = Optimised(R"(
    func.func @main(%s: tensor<64x128xbf16> {tf.aliasing_output = 0 : i32}, %x: tensor<32x64xbf16>,
                    %y: tensor<32x128xbf16>) -> tensor<64x128xbf16> {
      %0 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<32x128xbf16>, tensor<32x64xbf16>) -> tensor<128x64xbf16>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<128x64xbf16>) -> tensor<64x128xbf16>
      %2 = stablehlo.add %s, %1 : tensor<64x128xbf16>
      return %2 : tensor<64x128xbf16>
    })");
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.custom_call"));
}

TEST(SelectAndScatter, FindsPlacesThenScatters) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) -> tensor<4x4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.select_and_scatter"(%x, %y, %zero) <{padding = dense<0> : tensor<2x2xi64>,
          window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        }, {
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %1 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %1 : tensor<f32>
        }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    })",
                                      {});
  // Places with the values, zeros to scatter into, the scatter with the places side by side: as XLA does.
  EXPECT_THAT(Names(module), ElementsAre("mhlo.fusion", "mhlo.fusion", "mhlo.fusion"));
}

TEST(IndexVectors, AddBeforeBroadcasting) {
  const ir::Module module = Optimised(R"(
    func.func @main(%first: tensor<i32>, %x: tensor<64x512xi32>) -> tensor<64x512xi1> {
      %0 = stablehlo.iota dim = 1 : tensor<64x512xi32>
      %1 = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<64x512xi32>
      %2 = stablehlo.add %0, %1 : tensor<64x512xi32>
      %3 = stablehlo.compare EQ, %x, %2 : (tensor<64x512xi32>, tensor<64x512xi32>) -> tensor<64x512xi1>
      return %3 : tensor<64x512xi1>
    })",
                                      Until("index-vectors"));
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.kind(op) != ir::OpKind::kAdd) continue;
    EXPECT_THAT(module.types()[module.type_id(module.results(op)[0])].dims, ElementsAre(512));
  }
}

TEST(Fusion, ElementwiseChainIsOneKernelWithSideResults) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
      %0 = stablehlo.exponential %x : tensor<1024x1024xf32>
      %1 = stablehlo.negate %0 : tensor<1024x1024xf32>
      return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
    })");
  const driver::Summary summary = driver::Summarise(module);
  EXPECT_EQ(summary.fusions, 1);
  EXPECT_EQ(summary.bytes_accessed, 3 * 4 * 1024 * 1024);
}

TEST(Fusion, RowNormIsOneKernel) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.multiply %x, %x : tensor<4096x1024xf32>
      %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
      %2 = stablehlo.rsqrt %1 : tensor<4096xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
      %4 = stablehlo.multiply %x, %3 : tensor<4096x1024xf32>
      return %4 : tensor<4096x1024xf32>
    })");
  EXPECT_EQ(driver::Summarise(module).fusions, 1);
}

TEST(Fusion, KernelsWithDifferentTransposesOfTheSameDataStayApart) {
  const auto kernels = [](const std::string& second) {
    return driver::Summarise(Optimised(R"(
    func.func @main(%x: tensor<64x64x64xf32>) -> (tensor<64x64x64xf16>, tensor<64x64x64xf16>) {
      %0 = stablehlo.convert %x : (tensor<64x64x64xf32>) -> tensor<64x64x64xf16>
      %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<64x64x64xf16>) -> tensor<64x64x64xf16>
      %2 = stablehlo.negate %x : tensor<64x64x64xf32>
      %3 = stablehlo.convert %2 : (tensor<64x64x64xf32>) -> tensor<64x64x64xf16>
      %4 = stablehlo.transpose %3, dims = )" +
                                       second + R"( : (tensor<64x64x64xf16>) -> tensor<64x64x64xf16>
      return %1, %4 : tensor<64x64x64xf16>, tensor<64x64x64xf16>
    })"))
        .fusions;
  };
  EXPECT_EQ(kernels("[0, 2, 1]"), 1);
  EXPECT_EQ(kernels("[2, 1, 0]"), 2);
}

TEST(Fusion, ThreeColumnReductionsDoNotFitAThreadBlocksMemory) {
  std::string text =
      "func.func @main(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> (tensor<1024xf32>, "
      "tensor<1024xf32>, tensor<1024xf32>) {\n%c = stablehlo.constant dense<0.0> : tensor<f32>\n";
  for (const std::string op : {"add", "subtract", "multiply"}) {
    text += "%" + op + " = stablehlo." + op + " %x, %y : tensor<64x1024xf32>\n%s" + op + " = stablehlo.reduce(%" + op +
            " init: %c) applies stablehlo.add across dimensions = [0] : (tensor<64x1024xf32>, tensor<f32>) -> "
            "tensor<1024xf32>\n";
  }
  text += "return %sadd, %ssubtract, %smultiply : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>\n}";
  EXPECT_EQ(driver::Summarise(Optimised(text)).fusions, 2);
}

TEST(Fusion, NeverFusesKernelsIntoACycle) {
  // b needs a through a collective: both read x, but combining them would wait for itself.
  const std::string text =
      "func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {\n%0 = stablehlo.negate %x : tensor<65536xf32>\n" +
      AllReduce("%1", "%0", "tensor<65536xf32>") +
      "%2 = stablehlo.add %x, %1 : tensor<65536xf32>\nreturn %2 : tensor<65536xf32>\n}";
  EXPECT_EQ(driver::Summarise(Optimised(text)).fusions, 2);
}

const optimise::Options kTpu{.target = optimise::Target::kTpu};

// Bytes of the kernels in order.
std::vector<int64_t> KernelBytes(const std::string& text, const optimise::Options& options) {
  std::vector<int64_t> bytes;
  for (const auto& kernel : driver::Summarise(Optimised(text, options)).kernels) bytes.push_back(kernel.bytes);
  return bytes;
}

TEST(TpuFusion, AVectorIsComputedOnceBeforeItIsBroadcast) {
  // The row's sum; its root; the matmul.
  const std::string text = R"(
    func.func @main(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
      %1 = stablehlo.rsqrt %0 : tensor<512xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
      %3 = stablehlo.multiply %x, %2 : tensor<512x1024xf32>
      return %3 : tensor<512x1024xf32>
    })";
  const int64_t matrix = 512 * 1024 * 4;
  EXPECT_THAT(KernelBytes(text, kTpu), ElementsAre(matrix + 2048, 4096, 2 * matrix + 2048));
}

TEST(TpuFusion, DotsTakeProducersInAndGoOnWithWhatIsInMemory) {
  const std::string text = R"(
    func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %r: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.negate %x : tensor<512x512xf32>
      %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %2 = stablehlo.add %1, %r : tensor<512x512xf32>
      %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
      return %2, %3 : tensor<512x512xf32>, tensor<512xf32>
    })";
  EXPECT_THAT(KernelBytes(text, kTpu), ElementsAre(4 * 512 * 512 * 4 + 2048));
}

TEST(TpuFusion, RowsAndColumnsAreReducedApart) {
  const std::string text = R"(
    func.func @main(%x: tensor<512x1024xf32>) -> (tensor<512xf32>, tensor<1024xf32>) {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
      %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<1024xf32>
      return %0, %1 : tensor<512xf32>, tensor<1024xf32>
    })";
  EXPECT_EQ(KernelBytes(text, kTpu).size(), 2u);
}

TEST(TpuFusion, PartsOfAConcatenationAreMaterializedAndConcatenatedByEachConsumer) {
  const std::string text = R"(
    func.func @main(%x: tensor<512x256xf32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
      %0 = stablehlo.negate %x : tensor<512x256xf32>
      %1 = stablehlo.exponential %x : tensor<512x256xf32>
      %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x512xf32>
      %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %4 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      return %3, %4 : tensor<512x512xf32>, tensor<512x512xf32>
    })";
  const int64_t half = 512 * 256 * 4;
  EXPECT_THAT(KernelBytes(text, kTpu), ElementsAre(3 * half, 6 * half, 6 * half));
}

TEST(SqueezeUnitDimensions, BroadcastsReadTheSqueezedVectorOfAOneRowArgument) {
  const std::string text = R"(
    func.func @main(%x: tensor<1x512xi32>, %y: tensor<512x512xi32>) -> (tensor<512x512xi32>, tensor<512x512xi32>) {
      %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x512xi32>) -> tensor<512x512xi32>
      %1 = stablehlo.add %0, %y : tensor<512x512xi32>
      %2 = stablehlo.reshape %x : (tensor<1x512xi32>) -> tensor<512x1xi32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<512x1xi32>) -> tensor<512x512xi32>
      return %1, %3 : tensor<512x512xi32>, tensor<512x512xi32>
    })";
  EXPECT_THAT(KernelBytes(text, kTpu), ElementsAre(2 * 2048, _));
  EXPECT_THAT(KernelBytes(text, {.target = optimise::Target::kTpu, .disabled = {"unit-dimensions"}}), ElementsAre(_));
}

TEST(Loops, BodiesAreOptimisedAndKeepWhatTheyCapture) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<1024xf32>
        cond {
          %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %n = stablehlo.add %i, %one : tensor<i32>
          %p = stablehlo.multiply %v, %y : tensor<1024xf32>
          %q = stablehlo.negate %p : tensor<1024xf32>
          stablehlo.return %n, %q : tensor<i32>, tensor<1024xf32>
        }
      return %0#1 : tensor<1024xf32>
    })");
  EXPECT_EQ(driver::Summarise(module).fusions, 3);  // condition, counter, body
}

TEST(Simplify, DropsRoundingThatChangesNothing) {
  const auto text = [](int mantissa) {
    return fmt::format(R"(
    func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {{
      %0 = stablehlo.reduce_precision %x, format = e8m{} : tensor<4xbf16>
      return %0 : tensor<4xbf16>
    }})",
                       mantissa);
  };
  EXPECT_THAT(Names(Optimised(text(7), Until("simplify"))), ElementsAre());
  EXPECT_THAT(Names(Optimised(text(6), Until("simplify"))), ElementsAre("stablehlo.reduce_precision"));
}

TEST(FusionTimes, AValueIsReadAgainFromTheCacheThatHoldsIt) {
  const optimise::GpuFigures gpu;
  constexpr double kBlocks = 1e6;
  const auto again = [&](double size) {
    return optimise::ReadTicks(gpu, size, 1e12 + size, kBlocks) - optimise::ReadTicks(gpu, size, size, kBlocks);
  };
  const double from_memory = again(1e12);
  const double from_l2 = again(1e6);
  const double from_l1 = again(1e5);
  EXPECT_NEAR(from_memory / from_l2, 2.5, 1e-6);
  EXPECT_NEAR(from_l2 / from_l1, 8, 1e-6);
  EXPECT_GT(optimise::ReadTicks(gpu, 1e9, 1e9, 4), 8 * optimise::ReadTicks(gpu, 1e9, 1e9, kBlocks));  // few blocks
}

TEST(Report, SaysWhyNeighboursWereNotFused) {
  optimise::Report report;
  Optimised(Read(kDotAndSum), {.disabled = {"cublas-calls"}}, &report);
  ASSERT_FALSE(report.explanations.empty());
  EXPECT_THAT(report.explanations.back().op, HasSubstr("stablehlo.add (line 5)"));
  EXPECT_THAT(report.explanations.back().reason, HasSubstr("returned"));
  EXPECT_THAT(report.passes, Not(Contains("cublas-calls")));
}

TEST(Options, UnknownPassGetsASuggestion) {
  Diagnostics diagnostics;
  const auto result = optimise::Optimise(Read(kDotAndSum), {.disabled = {"fusoin"}}, diagnostics);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, &optimise::kUnknownPass);
  EXPECT_THAT(result.error().help, HasSubstr("fusion"));
}

TEST(Options, FormerPassNamesAreAccepted) {
  for (const char* former : {"convolution-sums", "triton-products", "library-calls", "row-vectors"}) {
    Diagnostics diagnostics;
    EXPECT_TRUE(optimise::Optimise(Read(kDotAndSum), {.disabled = {former}}, diagnostics)) << former;
    EXPECT_TRUE(optimise::Optimise(Read(kDotAndSum), {.stop_after = former}, diagnostics)) << former;
  }
  optimise::Report report;
  Optimised(Read(kDotAndSum), {.disabled = {"library-calls"}}, &report);
  EXPECT_THAT(report.passes, Not(Contains("cublas-calls")));
}

TEST(Options, ProgramWithoutMainIsRefused) {
  Diagnostics diagnostics;
  const auto result = optimise::Optimise(Read("module {}"), {}, diagnostics);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, &optimise::kNoMain);
}

TEST(Options, EveryPassCanBeSwitchedOff) {
  for (const optimise::Target target : {optimise::Target::kGpu, optimise::Target::kTpu}) {
    for (const optimise::PassInfo& pass : optimise::Passes(target)) {
      const ir::Module module = Optimised(Read(kDotAndSum), {.target = target, .disabled = {std::string(pass.name)}});
      EXPECT_GT(driver::Summarise(module).total(), 0) << pass.name;
    }
  }
}

}  // namespace
}  // namespace hespas
