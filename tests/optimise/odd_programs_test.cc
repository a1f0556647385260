// Programs that the verifier accepts and that no compiler exports: passes leave them valid and do not grow with them.
#include <gmock/gmock.h>

#include "programs.h"

namespace hespas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const optimise::Options kTriton{.flags = {.triton_matmuls = true}};

// `Optimised` verifies what comes out.
TEST(OddPrograms, StayValid) {
  const std::string programs[] = {// nothing to multiply
                                  R"(func.func @main(%a: tensor<8x0xf32>, %w: tensor<8x4xf32>) -> tensor<0x4xf32> {
        %r = stablehlo.reshape %a : (tensor<8x0xf32>) -> tensor<0x8xf32>
        %d = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<0x8xf32>, tensor<8x4xf32>) -> tensor<0x4xf32>
        return %d : tensor<0x4xf32>
      })",
                                  R"(func.func @main(%a: tensor<8x0xf32>, %b: tensor<2x2x0xf32>) -> tensor<8x4xf32> {
        %r = stablehlo.reshape %b : (tensor<2x2x0xf32>) -> tensor<0x4xf32>
        %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x4xf32>) -> tensor<8x4xf32>
        return %d : tensor<8x4xf32>
      })",
                                  // a function of two elements that is no op
                                  R"(func.func @main(%n: tensor<i32>) -> tensor<64x512xi32> {
        %0 = stablehlo.iota dim = 1 : tensor<64x512xi32>
        %1 = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<64x512xi32>
        %2 = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %s = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }) : (tensor<64x512xi32>, tensor<64x512xi32>) -> tensor<64x512xi32>
        return %2 : tensor<64x512xi32>
      })",
                                  // a sum that is wider than what is summed
                                  R"(func.func @main(%a: tensor<8x25301xi8>, %z: tensor<i32>) -> tensor<8xi32> {
        %r = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
        ^bb0(%x: tensor<i32>, %y: tensor<i32>):
          %s = stablehlo.add %x, %y : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }) : (tensor<8x25301xi8>, tensor<i32>) -> tensor<8xi32>
        return %r : tensor<8xi32>
      })"};
  for (const std::string& program : programs) Optimised(program, kTriton);
}

TEST(OddPrograms, WithoutAnOrderAreRefused) {
  const auto codes = [](const std::string& text) {
    Diagnostics diagnostics;
    const auto module = read::ReadText("program", text, {}, diagnostics);
    return module ? std::string() : std::string(module.error().kind->code);
  };
  const std::string main = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n";
  const std::string end = "return %0 : tensor<4xf32>\n}";
  EXPECT_EQ(codes(main + "%0 = stablehlo.add %0, %a : tensor<4xf32>\n" + end), "E0410");
  EXPECT_EQ(codes(main + "%0 = stablehlo.add %1, %a : tensor<4xf32>\n%1 = stablehlo.tanh %a : tensor<4xf32>\n" + end),
            "E0410");
  EXPECT_EQ(codes(main + "%0 = stablehlo.add %a, %a : tensor<4xf32>\n" + end), "");
}

// A block that reads what another one makes, which branches lead to, is no list of ops to run.
TEST(OddPrograms, WithBranchesAreRefused) {
  ir::Module module = Read(R"("builtin.module"() ({
    "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
    ^bb0(%a: tensor<4xf32>):
      %0 = "stablehlo.add"(%1, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "func.return"(%0) : (tensor<4xf32>) -> ()
    ^bb1:
      %1 = "stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
      "cf.br"()[^bb0] : () -> ()
    }) : () -> ()
  }) : () -> ())");
  Diagnostics diagnostics;
  const auto optimised = optimise::Optimise(std::move(module), {}, diagnostics);
  ASSERT_FALSE(optimised);
  EXPECT_EQ(optimised.error().kind, &optimise::kBranches);
}

TEST(OddPrograms, KeepCastsThatChangeTypes) {
  Optimised(R"(func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
    %0 = builtin.unrealized_conversion_cast %a : tensor<4xf32> to tensor<?xf32>
    return %0 : tensor<?xf32>
  })");
}

TEST(OddPrograms, WithoutRanksAreLeftAsTheyAre) {
  optimise::Report report;
  const ir::Module module = Optimised(Read(R"(
    func.func @main(%a: tensor<128x512xf32>, %b: tensor<*xf32>, %c: tensor<512x64xf32>) -> tensor<128x128xf32> {
      %r = "stablehlo.concatenate"(%b, %c) <{dimension = 1 : i64}> : (tensor<*xf32>, tensor<512x64xf32>) -> tensor<512x128xf32>
      %d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<128x512xf32>, tensor<512x128xf32>) -> tensor<128x128xf32>
      return %d : tensor<128x128xf32>
    })"),
                                      kTriton, &report);
  EXPECT_THAT(report.passes, IsEmpty());
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.concatenate", "stablehlo.dot_general"));
}

// Every matmul reads the chain above it: kernels do not all copy it.
TEST(OddPrograms, ALongChainIsNotCopiedForEveryMatmul) {
  constexpr int kLength = 2000;
  std::string text = "func.func @main(%x0: tensor<64x64xf32>) -> tensor<64x64xf32> {\n";
  for (int i = 1; i <= kLength; ++i) {
    const std::string n = std::to_string(i);
    text += "%x" + n + " = stablehlo.tanh %x" + std::to_string(i - 1) + " : tensor<64x64xf32>\n%d" + n +
            " = stablehlo.dot_general %x" + n + ", %" + (i == 1 ? "x0" : "d" + std::to_string(i - 1)) +
            ", contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n";
  }
  const ir::Module module =
      Optimised(text + "return %d" + std::to_string(kLength) + " : tensor<64x64xf32>\n}", kTriton);
  EXPECT_LT(module.op_count(), size_t{40} * 2 * kLength);
}

// A pass that does not run still is a place to look at the program.
TEST(OddPrograms, ShowWhenAPassIsSkipped) {
  const std::string text = R"(
    func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.tanh %a : tensor<64x64xf32>
      %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %1 : tensor<64x64xf32>
    })";
  EXPECT_THAT(Names(Optimised(text, Until("triton-matmuls"))), ElementsAre("stablehlo.tanh", "stablehlo.dot_general"));
}

}  // namespace
}  // namespace hespas
