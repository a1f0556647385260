// Rules of docs/spec/xla-gpu.md on small programs: whole rows, arithmetic, copies, padding, runs of reductions.
#include <gmock/gmock.h>

#include "ir/printer.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// x less the largest of its row, or of its column.
std::string LessTheLargest(int64_t row, bool columns = false) {
  const std::string rows = columns ? std::to_string(row) + "x64" : "64x" + std::to_string(row);
  const std::string x = "tensor<" + rows + "xf32>";
  const std::string dimension = columns ? "[0]" : "[1]";
  const std::string to = columns ? "[1]" : "[0]";
  return "func.func @main(%x: " + x + ") -> " + x + " {\n%i = stablehlo.constant dense<0xFF800000> : tensor<f32>\n" +
         "%e = stablehlo.exponential %x : " + x +
         "\n%m = stablehlo.reduce(%e init: %i) applies stablehlo.maximum across " + "dimensions = " + dimension +
         " : (" + x + ", tensor<f32>) -> tensor<64xf32>\n" + "%b = stablehlo.broadcast_in_dim %m, dims = " + to +
         " : (tensor<64xf32>) -> " + x + "\n%s = stablehlo.subtract %e, %b : " + x + "\nreturn %s : " + x + "\n}";
}

TEST(WholeRows, StayInOneKernelUpToWhatATileHolds) {
  EXPECT_THAT(Names(Optimised(LessTheLargest(1000), Until("fusion"))), ElementsAre("mhlo.fusion"));
  EXPECT_THAT(Names(Optimised(LessTheLargest(16384), Until("fusion"))), ElementsAre("mhlo.fusion"));
  EXPECT_GT(driver::Summarise(Optimised(LessTheLargest(16385), Until("fusion"))).total(), 1);
}

TEST(WholeRows, AreNoColumns) {
  EXPECT_GT(driver::Summarise(Optimised(LessTheLargest(1000, true), Until("fusion"))).total(), 1);
}

TEST(WholeRows, AreReducedByKernelsOfTheirOwnWithoutTheFlag) {
  optimise::Options options = Until("fusion");
  options.flags.triton_rows = false;
  const driver::Summary summary = driver::Summarise(Optimised(LessTheLargest(1000), options));
  EXPECT_EQ(summary.total(), 2);
  EXPECT_EQ(summary.bytes_accessed, 3 * 64 * 1000 * 4 + 2 * 64 * 4);
}

TEST(WholeRows, AreReadOnce) {
  const driver::Summary summary = driver::Summarise(Optimised(LessTheLargest(1000), Until("fusion")));
  EXPECT_EQ(summary.bytes_accessed, 2 * 64 * 1000 * 4);
}

TEST(Algebra, PowersAndDivisionsByNumbersMultiply) {
  const std::string text = R"(func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %f = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %p = stablehlo.power %x, %b : tensor<8xf32>
    %d = stablehlo.divide %p, %b : tensor<8xf32>
    return %d : tensor<8xf32>
  })";
  EXPECT_THAT(
      Names(Optimised(text, Until("algebra"))),
      ElementsAre("stablehlo.multiply", "stablehlo.constant", "stablehlo.broadcast_in_dim", "stablehlo.multiply"));
}

TEST(Algebra, ABroadcastThatAddsUnitDimensionsIsAReshape) {
  const auto names = [](const std::string& type) {
    return Names(Optimised("func.func @main(%x: tensor<8x4xf32>) -> " + type +
                               " {\n%b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<8x4xf32>) -> " + type +
                               "\nreturn %b : " + type + "\n}",
                           Until("algebra")));
  };
  EXPECT_THAT(names("tensor<1x8x4xf32>"), ElementsAre("stablehlo.reshape"));
  EXPECT_THAT(names("tensor<2x8x4xf32>"), ElementsAre("stablehlo.broadcast_in_dim"));
}

// Two numbers that change places, and a vector that starts as zeros twice.
const std::string kLoop =
    R"(func.func @main(%a: tensor<ui32>, %b: tensor<ui32>) -> (tensor<ui32>, tensor<ui32>, tensor<i32>) {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%i = %z, %j = %z, %p = %a, %q = %b) : tensor<i32>, tensor<i32>, tensor<ui32>, tensor<ui32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %k = stablehlo.add %i, %one : tensor<i32>
      %l = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %l, %q, %p : tensor<i32>, tensor<i32>, tensor<ui32>, tensor<ui32>
    }
    return %0#2, %0#3, %0#1 : tensor<ui32>, tensor<ui32>, tensor<i32>
  })";

size_t CopiesIn(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find("mhlo.copy"); at != std::string::npos; at = text.find("mhlo.copy", at + 1)) ++count;
  return count;
}

TEST(Copies, StandBeforeAndInLoops) {
  const std::string printed = ir::PrintGeneric(Optimised(kLoop, Until("copies")));
  // One counter is left. The constant it starts from and both parameters are copied before, each exchanged number twice
  // inside.
  EXPECT_EQ(CopiesIn(printed), 3u + 4u) << printed;
}

TEST(Copies, AreMadeOfWhatTheCallerKeeps) {
  const auto returned = [](const std::string& attribute) {
    return "func.func @main(%a: tensor<8xf32> " + attribute + ") -> tensor<8xf32> {\nreturn %a : tensor<8xf32>\n}";
  };
  EXPECT_THAT(Names(Optimised(returned(""), Until("copies"))), ElementsAre("mhlo.copy"));
  EXPECT_THAT(Names(Optimised(returned("{tf.aliasing_output = 0 : i32}"), Until("copies"))), ElementsAre());
}

// The caller gives both arrays away. What `results` returns lies in the buffers of the arguments in their order.
std::string Donating(const std::string& results) {
  return R"(
    func.func @main(%a: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<8xf32> {tf.aliasing_output = 1 : i32})
        -> (tensor<8xf32>, tensor<8xf32>) {
      %0 = stablehlo.tanh %a : tensor<8xf32>
      %1 = stablehlo.sine %b : tensor<8xf32>
      %2 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
      return )" +
         results + " : tensor<8xf32>, tensor<8xf32>\n}";
}

TEST(Copies, KeepDonatedArraysThatAreStillRead) {
  const auto copies = [](const std::string& results) {
    return CopiesIn(ir::PrintGeneric(Optimised(Donating(results), Until("scheduled-copies"))));
  };
  EXPECT_EQ(copies("%0, %1"), 0u);  // each written where it is read
  EXPECT_GE(copies("%1, %0"), 1u);  // one of them is read when the other is written over it
  EXPECT_GE(copies("%2, %1"), 1u);  // not read where it is written
}

TEST(Copies, AreMadeWhereTwoArgumentsNameOneResult) {
  std::string text = Donating("%2, %1");
  text.replace(text.find("= 1 : i32"), 3, "= 0");
  EXPECT_GE(CopiesIn(ir::PrintGeneric(Optimised(text, Until("scheduled-copies")))), 1u);
}

TEST(ConvolutionPadding, IsMadeBeforeWhereCudnnHasNone) {
  const auto of = [](const std::string& padding) {
    return "func.func @main(%x: tensor<8x16x15x15xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<8x16x15x15xf32> {\n"
           "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad "
           "= " +
           padding +
           "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x15x15xf32>, "
           "tensor<16x16x3x3xf32>) -> tensor<8x16x15x15xf32>\nreturn %0 : tensor<8x16x15x15xf32>\n}";
  };
  EXPECT_THAT(ir::PrintGeneric(Optimised(of("[[1, 1], [1, 1]]"), Until("convolution-calls"))),
              Not(HasSubstr("stablehlo.pad\"")));
  EXPECT_THAT(ir::PrintGeneric(Optimised(of("[[2, 0], [1, 1]]"), Until("convolution-calls"))),
              HasSubstr("tensor<8x16x17x17xf32>"));
}

TEST(Reductions, OfShortRowsAreLoopsOfTheirOwn) {
  const auto kernels = [](const std::string& length) {
    const std::string x = "tensor<65536x" + length + "xf32>";
    return driver::Summarise(Optimised("func.func @main(%x: " + x + ") -> (" + x + R"(, tensor<65536xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.tanh %x : )" + x + R"(
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : ()" +
                                           x +
                                           R"(, tensor<f32>) -> tensor<65536xf32>
      return %0, %1 : )" + x + ", tensor<65536xf32>\n}",
                                       Until("fusion")))
        .total();
  };
  // As XLA 0.7.2 has it: one kernel stores and sums rows that a warp's threads share evenly.
  EXPECT_EQ(kernels("128"), 1);
  EXPECT_EQ(kernels("32"), 1);
  EXPECT_EQ(kernels("24"), 2);
}

TEST(Reductions, GoOverSeparateRunsOneAfterTheOther) {
  const auto over = [](int64_t batches, int64_t row) {
    const std::string x = "tensor<" + std::to_string(batches) + "x96x" + std::to_string(row) + "xf32>";
    return "func.func @main(%x: " + x + ") -> tensor<96xf32> {\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n" +
           "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2] : (" + x +
           ", tensor<f32>) -> tensor<96xf32>\nreturn %0 : tensor<96xf32>\n}";
  };
  EXPECT_EQ(driver::Summarise(Optimised(over(8, 196), Until("fusion"))).total(), 1);
  EXPECT_EQ(driver::Summarise(Optimised(over(64, 196), Until("fusion"))).total(), 2);
  EXPECT_EQ(driver::Summarise(Optimised(over(8, 16), Until("fusion"))).total(), 2);
}

TEST(SplitReductions, CutsLongRowsInTwoStages) {
  const auto reduce = [](const std::string& n) {
    return "func.func @main(%x: tensor<8x" + n +
           "xf32>) -> tensor<8xf32> {\n%c = stablehlo.constant dense<0.0> : tensor<f32>\n" +
           "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x" + n +
           "xf32>, tensor<f32>) -> tensor<8xf32>\nreturn %0 : tensor<8xf32>\n}";
  };
  EXPECT_EQ(driver::Summarise(Optimised(reduce("16384"))).fusions, 1);
  EXPECT_EQ(driver::Summarise(Optimised(reduce("65536"))).fusions, 2);
  // As XLA: 501 x 256, but 128 x 501, whose first stage is long; 25301 has no good divisor and is padded to 105 x 241.
  const auto parts = [&](const std::string& n) {
    const driver::Summary summary = driver::Summarise(Optimised(reduce(n)));
    return (summary.kernels.at(0).bytes - 8 * 4 * std::stoll(n)) / 32;
  };
  EXPECT_EQ(parts("128256"), 501);
  EXPECT_EQ(parts("64128"), 128);
  EXPECT_EQ(parts("25301"), 105);
}

// A number that is known late is added to a vector of indices, not to each element of what that is broadcast to.
TEST(MergeDots, PutsSmallDotsOfOneOperandSideBySide) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<64x32xf32>, %a: tensor<32x16xf32>, %b: tensor<32x8xf32>) -> (tensor<64x16xf32>, tensor<64x8xf32>) {
      %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
      %1 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
      return %0, %1 : tensor<64x16xf32>, tensor<64x8xf32>
    })");
  const driver::Summary summary = driver::Summarise(module);
  EXPECT_EQ(summary.library_calls, 1);
  EXPECT_EQ(summary.flops, 2 * 64 * 32 * 24);
}

// x multiplies a small matrix and a large one; the large one alone is more than 32 MiB.
TEST(MergeDots, TakesInALargeMatmulButNotTwo) {
  const auto calls = [](const std::string& small) {
    const std::string text =
        "func.func @main(%x: tensor<64x1024xf32>, %a: tensor<1024x" + small +
        "xf32>, %b: tensor<1024x16384xf32>) -> (tensor<64x" + small + "xf32>, tensor<64x16384xf32>) {\n" +
        "%0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x" + small +
        "xf32>) -> tensor<64x" + small + "xf32>\n" +
        "%1 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, "
        "tensor<1024x16384xf32>) -> tensor<64x16384xf32>\nreturn %0, %1 : tensor<64x" +
        small + "xf32>, tensor<64x16384xf32>\n}";
    return driver::Summarise(Optimised(text)).library_calls;
  };
  EXPECT_EQ(calls("8"), 1);
  EXPECT_EQ(calls("16384"), 2);
}

TEST(Loops, WriteEqualArraysOnce) {
  const std::string stack = "tensor<16x8xf32>";
  const auto arrays = [&](const std::string& second) {
    const ir::Module module = Optimised(
        "func.func @main(%x: tensor<8xf32>) -> (" + stack + ", " + stack + ") {\n" +
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n%0 = stablehlo.constant dense<0> : tensor<i32>\n" +
        "%1 = stablehlo.constant dense<1> : tensor<i32>\n%n = stablehlo.constant dense<16> : tensor<i32>\n" +
        "%z = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> " + stack +
        "\n%r:4 = stablehlo.while(%i = %0, %a = %z, %b = %z, %v = %x) : tensor<i32>, " + stack + ", " + stack +
        ", tensor<8xf32>\ncond {\n%t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
        "stablehlo.return %t : tensor<i1>\n} do {\n%w = stablehlo.tanh %v : tensor<8xf32>\n" +
        "%p = stablehlo.reshape %v : (tensor<8xf32>) -> tensor<1x8xf32>\n" + "%q = stablehlo.reshape %" + second +
        " : (tensor<8xf32>) -> tensor<1x8xf32>\n" + "%d = stablehlo.dynamic_update_slice %a, %p, %i, %0 : (" + stack +
        ", tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> " + stack +
        "\n%e = stablehlo.dynamic_update_slice %b, %q, %i, %0 : (" + stack +
        ", tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> " + stack +
        "\n%k = stablehlo.add %i, %1 : tensor<i32>\nstablehlo.return %k, %d, %e, %w : tensor<i32>, " + stack + ", " +
        stack + ", tensor<8xf32>\n}\nreturn %r#1, %r#2 : " + stack + ", " + stack + "\n}");
    const std::string text = ir::PrintGeneric(module);
    size_t count = 0;
    for (size_t at = text.find("dynamic_update_slice"); at != std::string::npos;
         at = text.find("dynamic_update_slice", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(arrays("v"), 1u);
  EXPECT_EQ(arrays("w"), 2u);
}

// A transpose of what a loop does not change is made before it; the loop then has no use for what was transposed.
TEST(Loops, CarryWhatTheyReadAlone) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<64x32xf32>, %m: tensor<32x64xf32>) -> (tensor<64x32xf32>, tensor<32x64xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:3 = stablehlo.while(%i = %zero, %v = %x, %w = %m) : tensor<i32>, tensor<64x32xf32>, tensor<32x64xf32>
        cond {
          %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %n = stablehlo.add %i, %one : tensor<i32>
          %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
          %p = stablehlo.multiply %v, %t : tensor<64x32xf32>
          stablehlo.return %n, %p, %w : tensor<i32>, tensor<64x32xf32>, tensor<32x64xf32>
        }
      return %0#1, %0#2 : tensor<64x32xf32>, tensor<32x64xf32>
    })",
                                      Until("hoist-invariants"));
  EXPECT_THAT(Names(module), Contains("stablehlo.transpose"));
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    EXPECT_EQ(module.op(op).result_count == 2, module.kind(op) == ir::OpKind::kWhile);
  }
}

// Else each round of a loop would move the whole stack for one layer's part of it.
TEST(AssignLayouts, WhatIsUpdatedInPlaceKeepsItsOrder) {
  const ir::Module module = Optimised(R"(
    func.func @main(%stack: tensor<4x64x32xf32>, %x: tensor<32x64xf32>, %i: tensor<i32>) -> tensor<4x64x32xf32> {
      %0 = stablehlo.custom_call @kernel(%x) : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
      %2 = stablehlo.reshape %1 : (tensor<64x32xf32>) -> tensor<1x64x32xf32>
      %3 = stablehlo.constant dense<0> : tensor<i32>
      %4 = stablehlo.dynamic_update_slice %stack, %2, %i, %3, %3 : (tensor<4x64x32xf32>, tensor<1x64x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x32xf32>
      return %4 : tensor<4x64x32xf32>
    })",
                                      Until("assign-layouts"));
  EXPECT_THAT(Names(module), Contains("stablehlo.dynamic_update_slice"));
  EXPECT_THAT(ir::PrintGeneric(module), Not(HasSubstr("tensor<4x32x64xf32>")));
}

// The first matmul's operand is followed first (LayoutAssignment): its order goes through the concatenation to the
// slices, and the copy into it moves behind them.
TEST(AssignLayouts, WhatABatchedMatmulAsksForIsMadeFromSlices) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<1024x128xf32>, %w: tensor<128x128xf32>, %q: tensor<4x2x256x64xf32>,
                    %s: tensor<32xf32>) -> tensor<4x2x256x256xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x128xf32>, tensor<128x128xf32>) -> tensor<1024x128xf32>
      %1 = stablehlo.reshape %0 : (tensor<1024x128xf32>) -> tensor<4x256x2x64xf32>
      %2 = stablehlo.slice %1 [0:4, 0:256, 0:2, 0:32] : (tensor<4x256x2x64xf32>) -> tensor<4x256x2x32xf32>
      %3 = stablehlo.slice %1 [0:4, 0:256, 0:2, 32:64] : (tensor<4x256x2x64xf32>) -> tensor<4x256x2x32xf32>
      %sines = stablehlo.broadcast_in_dim %s, dims = [3] : (tensor<32xf32>) -> tensor<4x256x2x32xf32>
      %4 = stablehlo.multiply %3, %sines : tensor<4x256x2x32xf32>
      %5 = stablehlo.concatenate %4, %2, dim = 3 : (tensor<4x256x2x32xf32>, tensor<4x256x2x32xf32>) -> tensor<4x256x2x64xf32>
      %6 = stablehlo.dot_general %q, %5, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x2x256x64xf32>, tensor<4x256x2x64xf32>) -> tensor<4x2x256x256xf32>
      return %6 : tensor<4x2x256x256xf32>
    })",
                                      Until("simplify-layouts"));
  const std::string text = ir::PrintGeneric(module);
  EXPECT_THAT(text, HasSubstr("(tensor<4x256x2x32xf32>) -> tensor<4x2x32x256xf32>"));
  EXPECT_THAT(text, HasSubstr("-> tensor<4x2x64x256xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("(tensor<4x256x2x64xf32>) -> tensor<4x2x64x256xf32>")));
}

// Both kernels of a SiLU have a copy of the transpose; one kernel could not walk two of them in tiles, and XLA keeps
// two.
TEST(Fusion, ASiluOfTransposedDataIsTwoKernels) {
  const std::string wide = "tensor<8192x2048xf32>";
  const auto kernels = [&](const std::string& second) {
    return Names(Optimised("func.func @main(%x: tensor<2048x8192xf32>, %up: " + wide + ") -> " + wide +
                               " {\n%c = stablehlo.constant dense<1.0> : tensor<f32>\n" +
                               "%1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> " + wide +
                               "\n%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2048x8192xf32>) -> " + wide +
                               "\n%n = stablehlo.negate %t : " + wide + "\n%e = stablehlo.exponential %n : " + wide +
                               "\n%d = stablehlo.add %e, %1 : " + wide + "\n%s = stablehlo.divide %1, %d : " + wide +
                               "\n%g = stablehlo.multiply " + second + ", %s : " + wide +
                               "\n%r = stablehlo.multiply %g, %up : " + wide + "\nreturn %r : " + wide + "\n}",
                           Until("fusion")));
  };
  EXPECT_THAT(kernels("%t"), ElementsAre("mhlo.fusion", "mhlo.fusion"));
  EXPECT_THAT(kernels("%up"), ElementsAre("mhlo.fusion"));
}

// A scatter updates its zeros in place. So they are in memory, and the maximum reads them there, too.
TEST(Fusion, ABroadcastGoesIntoAllItsConsumersOrNone) {
  const auto kernels = [](const std::string& floor) {
    return Names(Optimised(R"(
    func.func @main(%x: tensor<4096x1024xf32>, %i: tensor<1x1xi32>, %u: tensor<1x1024xf32>) -> (tensor<4096x1024xf32>, tensor<4096x1024xf32>) {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %o = stablehlo.constant dense<1.0> : tensor<f32>
      %z = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
      %p = stablehlo.broadcast_in_dim %o, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
      %0 = stablehlo.maximum %x, )" +
                               floor + R"( : tensor<4096x1024xf32>
      %1 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<4096x1024xf32>, tensor<1x1xi32>, tensor<1x1024xf32>) -> tensor<4096x1024xf32>
      return %0, %1 : tensor<4096x1024xf32>, tensor<4096x1024xf32>
    })",
                           Until("fusion")));
  };
  EXPECT_THAT(kernels("%z"), ElementsAre("mhlo.fusion", "mhlo.fusion"));  // one kernel stores zeros and maximum
  EXPECT_THAT(kernels("%p"), ElementsAre("mhlo.fusion", "mhlo.fusion", "mhlo.fusion"));
}

}  // namespace
}  // namespace hespas
