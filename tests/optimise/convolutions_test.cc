// Convolutions as XLA's GPU compiler hands them to their library.
#include <gmock/gmock.h>

#include "ir/printer.h"
#include "programs.h"

namespace hespas {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(PadConvolutions, ThreeColoursBecomeFour) {
  const auto first = [](const std::string& type) {
    return ir::PrintGeneric(
        Optimised("func.func @main(%x: tensor<8x32x32x3x" + type + ">, %w: tensor<3x3x3x64x" + type +
                      ">) -> tensor<8x32x32x64x" + type +
                      "> {\n%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
                      "[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                      "feature_group_count = 1 : i64} : (tensor<8x32x32x3x" +
                      type + ">, tensor<3x3x3x64x" + type + ">) -> tensor<8x32x32x64x" + type +
                      ">\nreturn %0 : tensor<8x32x32x64x" + type + ">\n}",
                  Until("pad-convolutions")));
  };
  EXPECT_THAT(first("f16"), HasSubstr("(tensor<8x32x32x4xf16>, tensor<3x3x4x64xf16>) -> tensor<8x32x32x64xf16>"));
  EXPECT_THAT(first("f32"), Not(HasSubstr("stablehlo.pad")));
}

// What is left of a convolution of these operands and labels.
std::string ConvolutionText(const std::string& x, const std::string& k, const std::string& labels,
                            const std::string& window, const std::string& result, const std::string& last,
                            bool transposed = false) {
  const std::string filter = transposed ? "%w = stablehlo.reverse %k, dims = [0, 1] : " + k + "\n" : "";
  const std::string text = "func.func @main(%x: " + x + ", %k: " + k + ") -> " + result + " {\n" + filter +
                           "%0 = stablehlo.convolution(%x, " + (transposed ? "%w" : "%k") +
                           ") dim_numbers = " + labels + ", window = {" + window +
                           "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" + x + ", " + k +
                           ") -> " + result + "\nreturn %0 : " + result + "\n}";
  return ir::PrintGeneric(Optimised(text, Until(last)));
}

TEST(ConvolutionCalls, GradientsHaveCallsOfTheirOwn) {
  const std::string x = "tensor<2x8x8x4xf16>";
  EXPECT_THAT(ConvolutionText(x, "tensor<3x3x4x6xf16>", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                              "pad = [[1, 1], [1, 1]]", "tensor<2x8x8x6xf16>", "convolution-calls"),
              HasSubstr("\"__cudnn$convForward\""));
  // The filter is given as it is, by the labels of the forward convolution.
  const std::string input =
      ConvolutionText("tensor<2x8x8x6xf16>", "tensor<3x3x4x6xf16>", "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                      "pad = [[1, 1], [1, 1]]", x, "convolution-calls", true);
  EXPECT_THAT(input, AllOf(HasSubstr("\"__cudnn$convBackwardInput\""), Not(HasSubstr("stablehlo.reverse")),
                           HasSubstr("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]")));
  const std::string filter = ConvolutionText(x, "tensor<2x8x8x6xf16>", "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                                             "pad = [[1, 1], [1, 1]]", "tensor<3x3x4x6xf16>", "convolution-calls");
  EXPECT_THAT(filter,
              AllOf(HasSubstr("\"__cudnn$convBackwardFilter\""), HasSubstr("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]")));
  // Neither reversed nor dilated: no gradient.
  EXPECT_THAT(ConvolutionText("tensor<2x8x8x6xf16>", "tensor<3x3x4x6xf16>", "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                              "pad = [[1, 1], [1, 1]]", x, "convolution-calls"),
              HasSubstr("\"__cudnn$convForward\""));
}

TEST(ConvolutionCalls, FilterGradientsMayHaveGroupsAndAreSmallerInEachDirection) {
  const auto call = [](const std::string& kernel, const std::string& window, const std::string& result,
                       const std::string& groups) {
    const std::string x = "tensor<2x8x8x4xf16>";
    return ir::PrintGeneric(
        Optimised("func.func @main(%x: " + x + ", %k: " + kernel + ") -> " + result +
                      " {\n%0 = stablehlo.convolution(%x, %k) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->"
                      "[0, 1, b, f], window = {" +
                      window + "} {batch_group_count = " + groups + " : i64, feature_group_count = 1 : i64} : (" + x +
                      ", " + kernel + ") -> " + result + "\nreturn %0 : " + result + "\n}",
                  Until("convolution-calls")));
  };
  EXPECT_THAT(call("tensor<2x8x8x4xf16>", "pad = [[1, 1], [1, 1]]", "tensor<3x3x2x4xf16>", "2"),
              HasSubstr("\"__cudnn$convBackwardFilter\""));
  // Larger than the result in one direction only.
  EXPECT_THAT(call("tensor<2x8x3x6xf16>", "pad = [[0, 0], [1, 1]]", "tensor<1x8x4x6xf16>", "1"),
              HasSubstr("\"__cudnn$convForward\""));
}

TEST(ConvolutionLayouts, FeaturesComeLastWhereTensorCoresTakeTheType) {
  const auto call = [](const std::string& type, int capability) {
    const std::string text = "func.func @main(%x: tensor<2x8x8x16x" + type + ">, %k: tensor<3x3x16x32x" + type +
                             ">) -> tensor<2x8x8x32x" + type +
                             "> {\n%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
                             "[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                             "feature_group_count = 1 : i64} : (tensor<2x8x8x16x" +
                             type + ">, tensor<3x3x16x32x" + type + ">) -> tensor<2x8x8x32x" + type +
                             ">\nreturn %0 : tensor<2x8x8x32x" + type + ">\n}";
    optimise::Options options = Until("convolution-layouts");
    options.gpu.capability = capability;
    return ir::PrintGeneric(Optimised(text, options));
  };
  EXPECT_THAT(call("f16", 80), HasSubstr("(tensor<2x8x8x16xf16>, tensor<32x3x3x16xf16>) -> tensor<2x8x8x32xf16>"));
  EXPECT_THAT(call("f32", 90), HasSubstr("(tensor<2x8x8x16xf32>, tensor<32x3x3x16xf32>) -> tensor<2x8x8x32xf32>"));
  EXPECT_THAT(call("f32", 80), HasSubstr("(tensor<2x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<2x32x8x8xf32>"));
  EXPECT_THAT(call("f16", 60), HasSubstr("(tensor<2x16x8x8xf16>, tensor<32x16x3x3xf16>) -> tensor<2x32x8x8xf16>"));
}

TEST(ConvolutionBias, AForwardConvolutionFusesItsSideInput) {
  const auto calls = [](const std::string& kernel, const std::string& user) {
    const std::string x = "tensor<2x8x8x4xf16>";
    const std::string text = "func.func @main(%x: " + x + ", %y: " + x + ", %k: tensor<" + kernel + "x4x4xf16>) -> " +
                             x + " {\n%w = stablehlo.reverse %k, dims = [0, 1] : tensor<" + kernel +
                             "x4x4xf16>\n%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
                             "[b, 0, 1, f], window = {pad = " +
                             (kernel == "1x1" ? "[[0, 0], [0, 0]]" : "[[1, 1], [1, 1]]") +
                             "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" + x + ", tensor<" +
                             kernel + "x4x4xf16>) -> " + x + "\n%1 = stablehlo." + user + " %0, %y : " + x +
                             "\nreturn %1 : " + x + "\n}";
    return ir::PrintGeneric(Optimised(text, Until("convolution-bias")));
  };
  EXPECT_THAT(calls("1x1", "add"), HasSubstr("__cudnn$convBiasActivationForward"));
  EXPECT_THAT(calls("1x1", "multiply"), Not(HasSubstr("__cudnn$convBiasActivationForward")));
  // A reversed kernel makes a gradient, which has no such call.
  EXPECT_THAT(calls("3x3", "add"), Not(HasSubstr("__cudnn$convBiasActivationForward")));
}

TEST(ConvolutionBias, AForwardConvolutionFusesBiasSideInputAndRelu) {
  const std::string x = "tensor<2x8x8x4xf32>";
  const std::string text =
      "func.func @main(%x: " + x + ", %y: " + x + ", %k: tensor<1x1x4x4xf32>, %b: tensor<4xf32>) -> " + x +
      " {\n%z = stablehlo.constant dense<0.0> : " + x +
      "\n%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
      "window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
      "i64} : (" +
      x + ", tensor<1x1x4x4xf32>) -> " + x + "\n%1 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<4xf32>) -> " +
      x + "\n%2 = stablehlo.add %0, %1 : " + x + "\n%3 = stablehlo.add %2, %y : " + x +
      "\n%4 = stablehlo.maximum %3, %z : " + x + "\nreturn %4 : " + x + "\n}";
  const ir::Module module = Optimised(text, Until("convolution-bias"));
  EXPECT_THAT(Names(module), ElementsAre("stablehlo.custom_call"));
  EXPECT_THAT(ir::PrintGeneric(module), HasSubstr("kRelu"));
}

}  // namespace
}  // namespace hespas
