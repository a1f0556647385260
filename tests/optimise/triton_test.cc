// Matmuls as Triton kernels, and what they compute beside: ops inside the fusion that holds the matmul.
#include <gmock/gmock.h>

#include "ir/facts/fusion.h"
#include "ir/printer.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;

// Of the only matmul, without the terminator.
std::vector<std::string> MatmulKernel(const std::string& text) {
  const ir::Module module =
      Optimised(text, {.flags = {.triton_matmuls = true}, .disabled = {"fusion-wrapper"}, .stop_after = "fusion"});
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.kind(op) != ir::OpKind::kFusion) continue;
    std::vector<std::string> names;
    for (const ir::OpId inner : module.block(ir::FusionBody(module, op)).ops) {
      if (!ir::IsTerminator(module.kind(inner))) names.emplace_back(module.name(inner).substr(10));
    }
    if (std::find(names.begin(), names.end(), "dot_general") != names.end()) return names;
  }
  return {};
}

// A matmul of %l and %r, which `body` makes of two matrices, and a vector of their columns.
std::string Program(const std::string& body, const std::string& after = "return %d : tensor<128x256xbf16>",
                    const std::string& results = "tensor<128x256xbf16>") {
  return "func.func @main(%a: tensor<128x512xbf16>, %b: tensor<512x256xbf16>, %v: tensor<512xbf16>, "
         "%w: tensor<1x512xbf16>, %f: tensor<128x512xf32>) -> (" +
         results + ") {\n" + body +
         "\n%d = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<128x512xbf16>, "
         "tensor<512x256xbf16>) -> tensor<128x256xbf16>\n" +
         after + "\n}";
}

const std::string kRight = "%r = stablehlo.negate %b : tensor<512x256xbf16>\n";

TEST(TritonMatmuls, FuseProducersThatReadNoMoreThanTheyWrite) {
  EXPECT_THAT(MatmulKernel(Program(kRight + "%l = stablehlo.exponential %a : tensor<128x512xbf16>")),
              UnorderedElementsAre("exponential", "negate", "dot_general"));
}

TEST(TritonMatmuls, DuplicateProducersWithOtherConsumers) {
  const std::string both = "return %d, %l : tensor<128x256xbf16>, tensor<128x512xbf16>";
  EXPECT_THAT(MatmulKernel(Program(kRight + "%l = stablehlo.exponential %a : tensor<128x512xbf16>", both,
                                   "tensor<128x256xbf16>, tensor<128x512xbf16>")),
              Contains("exponential"));
}

TEST(TritonMatmuls, LeaveANarrowingConvertWithOtherConsumersToItsProducer) {
  const std::string narrow = kRight + "%l = stablehlo.convert %f : (tensor<128x512xf32>) -> tensor<128x512xbf16>";
  EXPECT_THAT(MatmulKernel(Program(narrow)), Contains("convert"));  // the parameter has no other consumer
  const std::string both = "return %d, %l : tensor<128x256xbf16>, tensor<128x512xbf16>";
  EXPECT_THAT(MatmulKernel(Program(narrow, both, "tensor<128x256xbf16>, tensor<128x512xbf16>")),
              Not(Contains("convert")));
}

TEST(TritonMatmuls, FuseASumOfTwoMatricesOnlyWhereOneIsABroadcastParameter) {
  EXPECT_THAT(MatmulKernel(Program(kRight + R"(
      %s = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<512xbf16>) -> tensor<128x512xbf16>
      %e = stablehlo.exponential %a : tensor<128x512xbf16>
      %l = stablehlo.multiply %e, %s : tensor<128x512xbf16>)")),
              UnorderedElementsAre("negate", "broadcast_in_dim", "exponential", "multiply", "dot_general"));
  // For XLA a bitcast lies between a matrix of one row and what broadcasts it.
  EXPECT_THAT(MatmulKernel(Program(kRight + R"(
      %s = stablehlo.broadcast_in_dim %w, dims = [0, 1] : (tensor<1x512xbf16>) -> tensor<128x512xbf16>
      %e = stablehlo.exponential %a : tensor<128x512xbf16>
      %l = stablehlo.multiply %e, %s : tensor<128x512xbf16>)")),
              UnorderedElementsAre("negate", "dot_general"));
}

TEST(TritonMatmuls, FuseLinearConsumersThatReadLittleElse) {
  EXPECT_THAT(MatmulKernel(Program("%l = stablehlo.negate %a : tensor<128x512xbf16>\n" + kRight, R"(
      %c = stablehlo.constant dense<2.0> : tensor<128x256xbf16>
      %m = stablehlo.multiply %d, %c : tensor<128x256xbf16>
      %n = stablehlo.negate %m : tensor<128x256xbf16>
      %e = stablehlo.exponential %n : tensor<128x256xbf16>
      return %e : tensor<128x256xbf16>)")),
              ElementsAre("negate", "negate", "constant", "dot_general", "multiply", "negate"));
}

TEST(TritonMatmuls, DoNotFuseTheirOwnSquare) {
  EXPECT_THAT(MatmulKernel(Program("%l = stablehlo.negate %a : tensor<128x512xbf16>\n" + kRight, R"(
      %q = stablehlo.multiply %d, %d : tensor<128x256xbf16>
      return %q : tensor<128x256xbf16>)")),
              ElementsAre("negate", "negate", "dot_general"));
}

// The heads of [tokens, heads, 64] side by side are one dimension; brought in front of the tokens they are not.
TEST(TritonMatmuls, ReadTransposedOnlyContiguousDimensions) {
  const auto text = [](const std::string& permuted, const std::string& dims) {
    return "func.func @main(%a: tensor<" + permuted + "xbf16>, %b: tensor<512x256xbf16>) -> tensor<128x256xbf16> {\n" +
           "%e = stablehlo.exponential %a : tensor<" + permuted + "xbf16>\n" + "%t = stablehlo.transpose %e, dims = [" +
           dims + "] : (tensor<" + permuted + "xbf16>) -> tensor<128x8x64xbf16>\n" +
           "%l = stablehlo.reshape %t : (tensor<128x8x64xbf16>) -> tensor<128x512xbf16>\n" +
           "%r = stablehlo.negate %b : tensor<512x256xbf16>\n" +
           "%d = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<128x512xbf16>, "
           "tensor<512x256xbf16>) -> tensor<128x256xbf16>\nreturn %d : tensor<128x256xbf16>\n}";
  };
  EXPECT_THAT(MatmulKernel(text("8x64x128", "2, 0, 1")), Contains("exponential"));
  EXPECT_THAT(MatmulKernel(text("8x128x64", "1, 0, 2")), Not(Contains("exponential")));
}

TEST(TritonMatmuls, PutOperandsSideBySideInPiecesOf64) {
  const auto text = [](int width) {
    const std::string w = std::to_string(width);
    const std::string both = std::to_string(2 * width);
    return "func.func @main(%a: tensor<128x512xbf16>, %b: tensor<512x" + w + "xbf16>, %c: tensor<512x" + w +
           "xbf16>) -> tensor<128x" + both + "xbf16> {\n%r = stablehlo.concatenate %b, %c, dim = 1 : (tensor<512x" + w +
           "xbf16>, tensor<512x" + w + "xbf16>) -> tensor<512x" + both + "xbf16>\n" +
           "%d = stablehlo.dot_general %a, %r, contracting_dims = [1] x [0] : (tensor<128x512xbf16>, tensor<512x" +
           both + "xbf16>) -> tensor<128x" + both + "xbf16>\nreturn %d : tensor<128x" + both + "xbf16>\n}";
  };
  EXPECT_THAT(MatmulKernel(text(192)), ElementsAre("concatenate", "dot_general"));
  EXPECT_THAT(MatmulKernel(text(200)), ElementsAre("dot_general"));
}

TEST(TritonMatmuls, ReadFourInputsForEachOperandAtMost) {
  std::string body = kRight;
  std::string last = "%a";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    body += "%k" + n + " = stablehlo.slice %v [" + n + ":512] : (tensor<512xbf16>) -> tensor<" +
            std::to_string(512 - i) + "xbf16>\n";
    body += "%c" + n + " = stablehlo.constant dense<" + n + ".0> : tensor<bf16>\n";
    body += "%p" + n + " = stablehlo.pad %k" + n + ", %c" + n + ", low = [0], high = [" + n +
            "], interior = [0] : (tensor<" + std::to_string(512 - i) + "xbf16>, tensor<bf16>) -> tensor<512xbf16>\n";
    body += "%q" + n + " = stablehlo.broadcast_in_dim %p" + n +
            ", dims = [1] : (tensor<512xbf16>) -> tensor<128x512xbf16>\n";
    body += "%s" + n + " = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<512xbf16>) -> tensor<128x512xbf16>\n";
    body += "%m" + n + " = stablehlo.multiply %q" + n + ", %s" + n + " : tensor<128x512xbf16>\n";
    body += "%l" + (i == 5 ? "" : n) + " = stablehlo.maximum " + last + ", %m" + n + " : tensor<128x512xbf16>\n";
    last = "%l" + n;
  }
  // Each maximum would read two matrices: none is absorbed.
  EXPECT_THAT(MatmulKernel(Program(body)), ElementsAre("negate", "dot_general"));
}

TEST(TritonMatmuls, OnlyWhereTheFlagSaysSo) {
  const ir::Module module = Optimised(Program(kRight + "%l = stablehlo.exponential %a : tensor<128x512xbf16>"));
  EXPECT_EQ(driver::Summarise(module).library_calls, 1);
}

// The rows lie in one piece in the operand, so that they have to in the result: the columns may not come between them.
TEST(TritonMatmuls, KeepRowsTogetherThatTheOperandDoes) {
  const std::string after = R"(%s = stablehlo.reshape %d : (tensor<128x256xbf16>) -> tensor<8x16x256xbf16>
      %t = stablehlo.transpose %s, dims = [0, 2, 1] : (tensor<8x16x256xbf16>) -> tensor<8x256x16xbf16>
      return %t : tensor<8x256x16xbf16>)";
  EXPECT_THAT(MatmulKernel(Program(kRight + "%l = stablehlo.exponential %a : tensor<128x512xbf16>", after,
                                   "tensor<8x256x16xbf16>")),
              Not(Contains("transpose")));
}

// Two kernels that read the same matrix store their results together, but not where a Triton matmul made it.
TEST(TritonMatmuls, AreNoReasonToFuseSiblings) {
  const auto text = [](bool triton) {
    return ir::PrintGeneric(Optimised(Program("%l = stablehlo.exponential %a : tensor<128x512xbf16>\n" + kRight,
                                              R"(%e = stablehlo.exponential %d : tensor<128x256xbf16>
      %n = stablehlo.sine %e : tensor<128x256xbf16>
      %c = stablehlo.cosine %d : tensor<128x256xbf16>
      %m = stablehlo.tanh %c : tensor<128x256xbf16>
      return %n, %m : tensor<128x256xbf16>, tensor<128x256xbf16>)",
                                              "tensor<128x256xbf16>, tensor<128x256xbf16>"),
                                      {.flags = {.triton_matmuls = triton}, .stop_after = "fusion"}));
  };
  const std::string together = "-> (tensor<128x256xbf16>, tensor<128x256xbf16>)\n";
  EXPECT_THAT(text(false), testing::HasSubstr(together));
  EXPECT_THAT(text(true), Not(testing::HasSubstr(together)));
}

}  // namespace
}  // namespace hespas
