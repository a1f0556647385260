// Ops that XLA's GPU compiler writes as others before it fuses: sorts, top-k, dots with vectors.
#include <gmock/gmock.h>

#include "ir/printer.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string TopK(int64_t n, int k) {
  const std::string input = "tensor<4x" + std::to_string(n) + "xf32>";
  const std::string kept = "4x" + std::to_string(k) + "x";
  const std::string types = "(tensor<" + kept + "f32>, tensor<" + kept + "i32>)";
  return "func.func @main(%x: " + input + ") -> " + types + " {\n%v, %i = chlo.top_k(%x, k = " + std::to_string(k) +
         ") : " + input + " -> " + types + "\nreturn %v, %i : tensor<" + kept + "f32>, tensor<" + kept + "i32>\n}";
}

TEST(Sorts, TopKHasAKernelForFewOfMany) {
  EXPECT_THAT(Names(Optimised(TopK(1024, 16), Until("sorts"))), ElementsAre("chlo.top_k"));
  for (const auto& text : {TopK(1023, 16), TopK(1024, 17)}) {
    EXPECT_THAT(Names(Optimised(text, Until("sorts"))),
                ElementsAre("stablehlo.iota", "stablehlo.sort", "stablehlo.slice", "stablehlo.slice"));
  }
}

std::string SortOf(const std::string& stable, bool beside_places) {
  const std::string x = "tensor<4x9xf32>";
  const std::string places = beside_places ? "%p = stablehlo.iota dim = 1 : tensor<4x9xi32>\n" : "";
  const std::string and_place = beside_places ? ", %p" : "";
  const std::string and_type = beside_places ? ", tensor<4x9xi32>" : "";
  const std::string and_arguments = beside_places ? ", %c: tensor<i32>, %d: tensor<i32>" : "";
  const std::string count = beside_places ? ":2" : "";
  const std::string result = beside_places ? "%0#0" : "%0";
  return "func.func @main(%x: " + x + ") -> " + x + " {\n" + places + "%0" + count + " = \"stablehlo.sort\"(%x" +
         and_place + ") <{dimension = 1 : i64, is_stable = " + stable + "}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>" +
         and_arguments +
         "):\n%l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
         "stablehlo.return %l : tensor<i1>\n}) : (" +
         x + and_type + ") -> (" + x + and_type + ")\nreturn " + result + " : " + x + "\n}";
}

TEST(Sorts, StableOnesCarryPlacesUnlessTheyHaveSome) {
  const std::string carried = ir::PrintGeneric(Optimised(SortOf("true", false), Until("sorts")));
  EXPECT_THAT(carried, AllOf(HasSubstr("(tensor<4x9xf32>, tensor<4x9xi32>) -> (tensor<4x9xf32>, tensor<4x9xi32>)"),
                             HasSubstr("is_stable = false"), HasSubstr("\"stablehlo.or\"")));
  for (const auto& text : {SortOf("false", false), SortOf("true", true)}) {
    EXPECT_THAT(ir::PrintGeneric(Optimised(text, Until("sorts"))), Not(HasSubstr("stablehlo.or")));
  }
}

TEST(Sorts, NegativeDimensionsCountFromTheEnd) {
  std::string text = SortOf("true", false);
  text.replace(text.find("dimension = 1"), 13, "dimension = -1");
  EXPECT_THAT(ir::PrintGeneric(Optimised(text, Until("sorts"))), HasSubstr("iota_dimension = 1"));
}

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& dims, const std::string& result) {
  return "func.func @main(%a: " + lhs + ", %b: " + rhs + ") -> " + result + " {\n%0 = stablehlo.dot_general %a, %b, " +
         dims + " : (" + lhs + ", " + rhs + ") -> " + result + "\nreturn %0 : " + result + "\n}";
}

TEST(VectorDots, AreMultipliedAndSummedWhileTheyAreSmall) {
  const auto names = [](const std::string& text) { return Names(Optimised(text, Until("vector-dots"))); };
  const auto rows = [](int64_t n) {
    const std::string size = std::to_string(n);
    return Dot("tensor<" + size + "x1000xf32>", "tensor<1000xf32>", "contracting_dims = [1] x [0]",
               "tensor<" + size + "xf32>");
  };
  // (rows + 1) * 1,000 elements of both: below ten million.
  EXPECT_THAT(names(rows(9998)), testing::Contains("stablehlo.reduce"));
  EXPECT_THAT(names(rows(9999)), ElementsAre("stablehlo.dot_general"));
  // Two vectors, and matmuls without a sum, of any size.
  EXPECT_THAT(names(Dot("tensor<20000000xf32>", "tensor<20000000xf32>", "contracting_dims = [0] x [0]", "tensor<f32>")),
              testing::Contains("stablehlo.reduce"));
  EXPECT_THAT(names(Dot("tensor<2x6000xf32>", "tensor<2x6000xf32>",
                        "batching_dims = [0] x [0], contracting_dims = [] x []", "tensor<2x6000x6000xf32>")),
              AllOf(testing::Contains("stablehlo.multiply"), Not(testing::Contains("stablehlo.reduce"))));
  EXPECT_THAT(names(Dot("tensor<8x8xf32>", "tensor<8x8xf32>", "contracting_dims = [1] x [0]", "tensor<8x8xf32>")),
              ElementsAre("stablehlo.dot_general"));
}

TEST(VectorDots, CrossedDimensionsOfASquareAreExchanged) {
  const std::string crossed = Dot("tensor<8x8xf32>", "tensor<8x8xf32>",
                                  "batching_dims = [0] x [1], contracting_dims = [1] x [0]", "tensor<8xf32>");
  EXPECT_THAT(ir::PrintGeneric(Optimised(crossed, Until("vector-dots"))), HasSubstr("permutation = array<i64: 1, 0>"));
}

TEST(Simplify, ABroadcastThatExchangesDimensionsStays) {
  const auto names = [](const std::string& dims) {
    return Names(Optimised(
        "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n%0 = stablehlo.broadcast_in_dim %x, dims = " +
            dims +
            " : (tensor<8x8xf32>) -> tensor<8x8xf32>\n%1 = stablehlo.negate %0 : "
            "tensor<8x8xf32>\nreturn %1 : tensor<8x8xf32>\n}",
        Until("simplify")));
  };
  EXPECT_THAT(names("[0, 1]"), ElementsAre("stablehlo.negate"));
  EXPECT_THAT(names("[1, 0]"), ElementsAre("stablehlo.broadcast_in_dim", "stablehlo.negate"));
}

TEST(VectorDots, SumNarrowFloatsInF32) {
  const std::string text = ir::PrintGeneric(
      Optimised(Dot("tensor<8x16xbf16>", "tensor<16xbf16>", "contracting_dims = [1] x [0]", "tensor<8xbf16>"),
                Until("vector-dots")));
  EXPECT_THAT(text, AllOf(HasSubstr("(tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>"),
                          HasSubstr("(tensor<8xf32>) -> tensor<8xbf16>")));
}

}  // namespace
}  // namespace hespas
