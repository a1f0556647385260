// What shares a loop on a processor: kernels by their results, as StableHLO names what makes them.
#include <gmock/gmock.h>

#include "ir/facts/fusion.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::UnorderedElementsAre;

// The op that makes each kernel's result, those of ops that stand alone included.
std::vector<std::string> Kernels(const std::string& text, const std::vector<std::string>& disabled = {}) {
  const ir::Module module = Optimised(text, {.target = optimise::Target::kCpu, .disabled = disabled});
  std::vector<std::string> names;
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (ir::IsTerminator(module.kind(op))) continue;
    if (module.kind(op) == ir::OpKind::kConstant) continue;
    if (module.kind(op) != ir::OpKind::kFusion) {
      names.emplace_back(module.name(op));
      continue;
    }
    const ir::BlockId body = ir::FusionBody(module, op);
    const ir::OpId end = module.block(body).ops.back();
    for (const ir::ValueId value : module.operands(end)) names.emplace_back(module.name(module.defining_op(value)));
  }
  return names;
}

std::string Main(const std::string& body) {
  return "func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {\n" +
         body + "}";
}

TEST(CpuFusion, WhatIsExpensiveIsComputedOnce) {
  EXPECT_THAT(Kernels(Main(R"(
      %0 = stablehlo.exponential %x : tensor<8x64xf32>
      %1 = stablehlo.add %0, %y : tensor<8x64xf32>
      %2 = stablehlo.subtract %0, %y : tensor<8x64xf32>
      return %1, %2 : tensor<8x64xf32>, tensor<8x64xf32>)")),
              UnorderedElementsAre("stablehlo.exponential", "stablehlo.add", "stablehlo.subtract"));
}

TEST(CpuFusion, AnOpOfOneValueIsDuplicatedIntoEachConsumer) {
  EXPECT_THAT(Kernels(Main(R"(
      %0 = stablehlo.negate %x : tensor<8x64xf32>
      %1 = stablehlo.add %0, %y : tensor<8x64xf32>
      %2 = stablehlo.subtract %0, %y : tensor<8x64xf32>
      return %1, %2 : tensor<8x64xf32>, tensor<8x64xf32>)")),
              UnorderedElementsAre("stablehlo.add", "stablehlo.subtract"));
}

std::string MatmulOf(const std::string& second) {
  return "func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {\n"
         "  %0 = stablehlo.multiply %x, %y : tensor<64x64xf32>\n  %1 = stablehlo.abs %0 : tensor<64x64xf32>\n  %2 = " +
         second + "\n  return %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>\n}";
}

// As XLA's CPU compiler (jaxlib 0.7.2) fuses both.
TEST(CpuFusion, AnOpOfTwoValuesIsMaterializedWhereOneConsumerNeedsItInMemory) {
  EXPECT_THAT(Kernels(MatmulOf("stablehlo.negate %0 : tensor<64x64xf32>")),
              UnorderedElementsAre("stablehlo.negate", "stablehlo.abs"));
  EXPECT_THAT(Kernels(MatmulOf("stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
                               "tensor<64x64xf32>) -> tensor<64x64xf32>")),
              UnorderedElementsAre("stablehlo.multiply", "stablehlo.dot_general", "stablehlo.abs"));
}

// As in `hespas split --split fusion`, where matmuls stay as they are written: the kernels of w - transpose(x y).
std::vector<std::string> UpdateBy(const std::string& dimensions, const std::string& order,
                                  const std::string& also = "") {
  const std::string batched = "tensor<4x8x16xf32>", transposed = "tensor<" + dimensions + "xf32>";
  return Kernels("func.func @main(%x: tensor<4x8x32xf32>, %y: tensor<4x16x32xf32>, %w: " + transposed + ") -> (" +
                     transposed + (also.empty() ? "" : ", " + batched) + R"() {
      %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x8x32xf32>, tensor<4x16x32xf32>) -> )" +
                     batched + "\n  %1 = stablehlo.transpose %0, dims = " + order + " : (" + batched + ") -> " +
                     transposed + "\n  %2 = stablehlo.subtract %w, %1 : " + transposed + "\n  return %2" + also +
                     " : " + transposed + (also.empty() ? "" : ", " + batched) + "\n}",
                 {"canonical-dots"});
}

// As XLA's CPU compiler (jaxlib 0.7.2) does: it swaps operands where that is all a transpose takes.
TEST(CpuFusion, AMatmulWritesTheLayoutOfItsOnlyTranspose) {
  EXPECT_THAT(UpdateBy("4x16x8", "[0, 2, 1]"), UnorderedElementsAre("stablehlo.transpose", "stablehlo.subtract"));
  EXPECT_THAT(UpdateBy("8x4x16", "[1, 0, 2]"), UnorderedElementsAre("stablehlo.dot_general", "stablehlo.subtract"));
  EXPECT_THAT(UpdateBy("4x16x8", "[0, 2, 1]", ", %0"),
              UnorderedElementsAre("stablehlo.dot_general", "stablehlo.subtract"));
}

TEST(CpuFusion, AMatmulReadsTransposedMatricesInPlace) {
  EXPECT_THAT(
      Kernels(
          R"(func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
      %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
      %2 = stablehlo.negate %0 : tensor<32x64xf32>
      return %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>
  })",
          {"canonical-dots"}),
      UnorderedElementsAre("stablehlo.dot_general", "stablehlo.negate"));
}

std::string Reduced(int dimension, int left) {
  const std::string type = "tensor<" + std::to_string(left) + "xf32>";
  return "func.func @main(%x: tensor<8x16xf32>) -> " + type + R"( {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.negate %x : tensor<8x16xf32>
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [)" +
         std::to_string(dimension) + "] : (tensor<8x16xf32>, tensor<f32>) -> " + type + R"(
      %2 = stablehlo.abs %1 : )" +
         type + "\n      return %2 : " + type + "\n}";
}

TEST(CpuFusion, RowsAreReducedWithTheirProducersAndColumnsApart) {
  EXPECT_THAT(Kernels(Reduced(1, 8)), UnorderedElementsAre("stablehlo.abs"));
  EXPECT_THAT(Kernels(Reduced(0, 16)), UnorderedElementsAre("stablehlo.negate", "stablehlo.reduce", "stablehlo.abs"));
}

}  // namespace
}  // namespace hespas
