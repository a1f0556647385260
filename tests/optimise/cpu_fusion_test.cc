// What shares a loop on a processor: kernels by their results, as StableHLO names what makes them.
#include <gmock/gmock.h>

#include "ir/fusion.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::UnorderedElementsAre;

// The op that makes each kernel's result, those of ops that stand alone included.
std::vector<std::string> Kernels(const std::string& text) {
  const ir::Module module = Optimised(text, {.target = optimise::Target::kCpu});
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

TEST(CpuFusion, WhatReadsOneValueIsComputedByEachReader) {
  EXPECT_THAT(Kernels(Main(R"(
      %0 = stablehlo.negate %x : tensor<8x64xf32>
      %1 = stablehlo.add %0, %y : tensor<8x64xf32>
      %2 = stablehlo.subtract %0, %y : tensor<8x64xf32>
      return %1, %2 : tensor<8x64xf32>, tensor<8x64xf32>)")),
              UnorderedElementsAre("stablehlo.add", "stablehlo.subtract"));
}

std::string ProductOf(const std::string& second) {
  return "func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {\n"
         "  %0 = stablehlo.multiply %x, %y : tensor<64x64xf32>\n  %1 = stablehlo.abs %0 : tensor<64x64xf32>\n  %2 = " +
         second + "\n  return %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>\n}";
}

// As XLA's CPU compiler (jaxlib 0.7.2) fuses both.
TEST(CpuFusion, WhatReadsTwoValuesIsStoredWhereOneReaderNeedsItInMemory) {
  EXPECT_THAT(Kernels(ProductOf("stablehlo.negate %0 : tensor<64x64xf32>")),
              UnorderedElementsAre("stablehlo.negate", "stablehlo.abs"));
  EXPECT_THAT(Kernels(ProductOf("stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
                                "tensor<64x64xf32>) -> tensor<64x64xf32>")),
              UnorderedElementsAre("stablehlo.multiply", "stablehlo.dot_general", "stablehlo.abs"));
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

TEST(CpuFusion, RowsAreReducedInOneLoopWithWhatTheyReadAndColumnsApart) {
  EXPECT_THAT(Kernels(Reduced(1, 8)), UnorderedElementsAre("stablehlo.abs"));
  EXPECT_THAT(Kernels(Reduced(0, 16)), UnorderedElementsAre("stablehlo.negate", "stablehlo.reduce", "stablehlo.abs"));
}

}  // namespace
}  // namespace hespas
