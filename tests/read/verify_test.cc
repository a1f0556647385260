// Verification of single ops: each case breaks one constraint of the StableHLO specification at the line marked `!!`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "read/read.h"

namespace hespas {
namespace {

struct Case {
  std::string name;  // of the test
  std::string code;  // expected; "" where the module is right
  std::string module;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

size_t MarkedLine(std::string_view module) {
  const size_t mark = module.find("!!");
  return 1 + static_cast<size_t>(std::count(module.begin(), module.begin() + static_cast<ptrdiff_t>(mark), '\n'));
}

class VerifyOp : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyOp, RejectsTheDefect) {
  const Case& c = GetParam();
  Diagnostics diagnostics;
  const auto module = read::ReadText("case.mlir", c.module, {}, diagnostics);
  if (c.code.empty()) {
    EXPECT_TRUE(module.ok()) << Render(module.error());
    return;
  }
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().kind->code, c.code) << Render(module.error());
  EXPECT_EQ(module.error().location.line, MarkedLine(c.module)) << Render(module.error());
  EXPECT_EQ(diagnostics.error_count(), 1u);
}

TEST_P(VerifyOp, IsReadWithoutVerification) {
  Diagnostics diagnostics;
  const auto module = read::ReadText("case.mlir", GetParam().module, {.verify = false}, diagnostics);
  EXPECT_TRUE(module.ok()) << Render(module.error());
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

// --- convolution -----------------------------------------------------------------------------------------------------

struct Convolution {
  std::string lhs = "tensor<4x8x8x6xf32>";
  std::string rhs = "tensor<3x3x6x12xf32>";
  std::string result = "tensor<4x8x8x12xf32>";
  std::string numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  std::string window = "stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]";
  int features = 1;
  int batches = 1;
};

Case Conv(std::string name, std::string code, const Convolution& c) {
  return {std::move(name), std::move(code),
          fmt::format("func.func @main(%a: {0}, %b: {1}) -> {2} {{\n"
                      "  %0 = stablehlo.convolution(%a, %b) // !!\n"
                      "    dim_numbers = {3}, window = {{{4}}}\n"
                      "    {{batch_group_count = {5} : i64, feature_group_count = {6} : i64}} : ({0}, {1}) -> {2}\n"
                      "  return %0 : {2}\n}}\n",
                      c.lhs, c.rhs, c.result, c.numbers, c.window, c.batches, c.features)};
}

std::vector<Case> Convolutions() {
  const std::string pads = "stride = [1, 1], pad = ";
  return {
      Conv("Plain", "", {}),
      Conv("Grouped", "", {.rhs = "tensor<3x3x3x12xf32>", .features = 2}),
      Conv("BatchGrouped", "", {.result = "tensor<2x8x8x12xf32>", .batches = 2}),
      Conv("Strided", "", {.result = "tensor<4x4x3x12xf32>", .window = "stride = [2, 2], pad = [[1, 1], [0, 0]]"}),
      Conv("Dilated", "",
           {.result = "tensor<4x13x4x12xf32>",
            .window = "lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [true, false]"}),
      Conv("WindowLargerThanInput", "",
           {.lhs = "tensor<4x2x8x6xf32>", .result = "tensor<4x0x6x12xf32>", .window = "stride = [1, 1]"}),
      Conv("DynamicBatch", "", {.lhs = "tensor<?x8x8x6xf32>", .result = "tensor<?x8x8x12xf32>"}),
      Conv("RanksDiffer", "E0403", {.rhs = "tensor<3x6x12xf32>"}),
      Conv("StrideCount", "E0405", {.window = "stride = [1], pad = [[1, 1], [1, 1]]"}),
      Conv("StrideZero", "E0404", {.window = "stride = [1, 0], pad = [[1, 1], [1, 1]]"}),
      Conv("PaddingCount", "E0405", {.window = pads + "[[1, 1]]"}),
      Conv("LhsDilationCount", "E0405", {.window = pads + "[[1, 1], [1, 1]], lhs_dilate = [1]"}),
      Conv("LhsDilationZero", "E0404", {.window = pads + "[[1, 1], [1, 1]], lhs_dilate = [0, 1]"}),
      Conv("RhsDilationCount", "E0405", {.window = pads + "[[1, 1], [1, 1]], rhs_dilate = [1, 1, 1]"}),
      Conv("RhsDilationNegative", "E0404", {.window = pads + "[[1, 1], [1, 1]], rhs_dilate = [1, -2]"}),
      Conv("ReversalCount", "E0405", {.window = pads + "[[1, 1], [1, 1]], reverse = [true]"}),
      Conv("BatchNotDivided", "E0405", {.batches = 3}),
      Conv("FeaturesNotDivided", "E0405", {.features = 4}),
      Conv("KernelFeatures", "E0403", {.rhs = "tensor<3x3x5x12xf32>"}),
      Conv("OutputNotDivided", "E0405", {.rhs = "tensor<3x3x3x11xf32>", .features = 2}),
      Conv("OutputNotDividedByBatch", "E0405", {.rhs = "tensor<3x3x6x11xf32>", .batches = 2}),
      Conv("BothGroups", "E0404", {.features = 2, .batches = 2}),
      Conv("NoFeatureGroup", "E0404", {.features = 0}),
      Conv("NegativeBatchGroup", "E0404", {.batches = -1}),
      Conv("EmptyWindow", "E0404", {.rhs = "tensor<0x3x6x12xf32>"}),
      Conv("SpatialTooFew", "E0405", {.numbers = "[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]"}),
      Conv("ResultSpatial", "E0403", {.result = "tensor<4x8x7x12xf32>"}),
      Conv("ResultRank", "E0403", {.result = "tensor<4x8x12xf32>"}),
  };
}
// In generic form, where the reader does not look into the attributes.
std::vector<Case> GenericConvolutions() {
  const auto generic = [](std::string name, std::string code, std::string numbers, std::string padding) {
    return Case{std::move(name), std::move(code),
                fmt::format("func.func @main(%a: tensor<4x8x6xf32>, %b: tensor<3x6x12xf32>) {{\n"
                            "  %0 = \"stablehlo.convolution\"(%a, %b) {{ // !!\n"
                            "    batch_group_count = 1 : i64, feature_group_count = 1 : i64, padding = {1},\n"
                            "    dimension_numbers = #stablehlo.conv<{0}>\n"
                            "  }} : (tensor<4x8x6xf32>, tensor<3x6x12xf32>) -> tensor<4x8x12xf32>\n  return\n}}\n",
                            numbers, padding)};
  };
  const std::string numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  const std::string raw =
      "raw input_batch_dimension = 0, input_feature_dimension = {}, input_spatial_dimensions = [1], "
      "kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], "
      "output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]";
  return {
      generic("Generic", "", numbers, "dense<1> : tensor<1x2xi64>"),
      generic("GenericRaw", "", fmt::format(fmt::runtime(raw), 2), "dense<1> : tensor<1x2xi64>"),
      generic("InputNotUnique", "E0405", fmt::format(fmt::runtime(raw), 0), "dense<1> : tensor<1x2xi64>"),
      generic("InputOutOfRange", "E0405", fmt::format(fmt::runtime(raw), 3), "dense<1> : tensor<1x2xi64>"),
      generic("PaddingTriples", "E0405", numbers, "dense<1> : tensor<1x3xi64>"),
      generic("PaddingList", "E0404", numbers, "dense<1> : tensor<2xi64>"),
  };
}
INSTANTIATE_TEST_SUITE_P(GenericConvolution, VerifyOp, ::testing::ValuesIn(GenericConvolutions()), CaseName);

INSTANTIATE_TEST_SUITE_P(Convolution, VerifyOp, ::testing::ValuesIn(Convolutions()), CaseName);

// --- reduce_window ---------------------------------------------------------------------------------------------------

struct ReduceWindow {
  std::string input = "tensor<8x8xf32>";
  std::string init = "tensor<f32>";
  std::string result = "tensor<4x4xf32>";
  std::string attributes = "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>";
  std::string arguments = "%x: tensor<f32>, %y: tensor<f32>";
  std::string body = "%r = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %r : tensor<f32>";
};

Case Window(std::string name, std::string code, const ReduceWindow& w) {
  return {std::move(name), std::move(code),
          fmt::format("func.func @main(%a: {0}, %i: {1}) -> {2} {{\n"
                      "  %0 = \"stablehlo.reduce_window\"(%a, %i) ({{ // !!\n"
                      "  ^bb0({3}):\n    {4}\n  }}) {{{5}}} : ({0}, {1}) -> {2}\n"
                      "  return %0 : {2}\n}}\n",
                      w.input, w.init, w.result, w.arguments, w.body, w.attributes)};
}

std::vector<Case> ReduceWindows() {
  const std::string size = "window_dimensions = array<i64: 2, 2>";
  return {
      Window("Pooling", "", {}),
      Window("OldSpelling", "",
             {.attributes = "window_dimensions = dense<2> : tensor<2xi64>, window_strides = dense<[2, 2]> : "
                            "tensor<2xi64>, padding = dense<0> : tensor<2x2xi64>"}),
      Window("Dilated", "",
             {.result = "tensor<14x6xf32>",
              .attributes = size + ", base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 1, 2>"}),
      Window("Promoted", "",
             {.result = "tensor<4x4xf64>",
              .arguments = "%x: tensor<f64>, %y: tensor<f64>",
              .body = "%r = stablehlo.add %x, %y : tensor<f64>\n    stablehlo.return %r : tensor<f64>"}),
      Window("WindowCount", "E0405", {.attributes = "window_dimensions = array<i64: 2>"}),
      Window("WindowZero", "E0404", {.attributes = "window_dimensions = array<i64: 2, 0>"}),
      Window("StrideCount", "E0405", {.attributes = size + ", window_strides = array<i64: 2>"}),
      Window("StrideZero", "E0404", {.attributes = size + ", window_strides = array<i64: 0, 2>"}),
      Window("BaseDilationCount", "E0405", {.attributes = size + ", base_dilations = array<i64: 2>"}),
      Window("BaseDilationZero", "E0404", {.attributes = size + ", base_dilations = array<i64: 2, 0>"}),
      Window("WindowDilationCount", "E0405", {.attributes = size + ", window_dilations = array<i64: 2, 2, 2>"}),
      Window("WindowDilationZero", "E0404", {.attributes = size + ", window_dilations = array<i64: 0, 2>"}),
      Window("PaddingCount", "E0405", {.attributes = size + ", padding = dense<0> : tensor<3x2xi64>"}),
      Window("PaddingRank", "E0404", {.attributes = size + ", padding = dense<0> : tensor<4xi64>"}),
      Window("MissingWindow", "E0404", {.attributes = "window_strides = array<i64: 2, 2>"}),
      Window("ResultShape", "E0403", {.result = "tensor<4x3xf32>"}),
      Window("ResultElement", "E0403", {.result = "tensor<4x4xf64>"}),
      Window("TooManyArguments", "E0406", {.arguments = "%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>"}),
      Window("ReturnsNothing", "E0406", {.body = "stablehlo.return"}),
      Window("ReturnsTwo", "E0406", {.body = "stablehlo.return %x, %y : tensor<f32>, tensor<f32>"}),
      Window("ReturnsATuple", "E0406",
             {.body = "%r = stablehlo.tuple %x, %y : tuple<tensor<f32>, tensor<f32>>\n    stablehlo.return %r : "
                      "tuple<tensor<f32>, tensor<f32>>"}),
      Window("ArgumentsDiffer", "E0406",
             {.arguments = "%x: tensor<f32>, %y: tensor<i32>", .body = "stablehlo.return %x : tensor<f32>"}),
      Window("Demoted", "E0406",
             {.result = "tensor<4x4xf16>",
              .arguments = "%x: tensor<f16>, %y: tensor<f16>",
              .body = "%r = stablehlo.add %x, %y : tensor<f16>\n    stablehlo.return %r : tensor<f16>"}),
      Window("InitialShape", "E0406", {.init = "tensor<2xf32>"}),
  };
}
INSTANTIATE_TEST_SUITE_P(ReduceWindow, VerifyOp, ::testing::ValuesIn(ReduceWindows()), CaseName);

// --- scatter ---------------------------------------------------------------------------------------------------------

struct Scatter {
  std::string input = "tensor<200x100x300xf32>";
  std::string indices = "tensor<10x2xi32>";
  std::string updates = "tensor<10x300xf32>";
  std::string result = "tensor<200x100x300xf32>";
  std::string numbers =
      "update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], "
      "index_vector_dim = 1";
  std::string arguments = "%x: tensor<f32>, %y: tensor<f32>";
  std::string body = "%r = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %r : tensor<f32>";
};

Case Scattered(std::string name, std::string code, const Scatter& s) {
  return {std::move(name), std::move(code),
          fmt::format("func.func @main(%a: {0}, %i: {1}, %u: {2}) -> {3} {{\n"
                      "  %0 = \"stablehlo.scatter\"(%a, %i, %u) ({{ // !!\n"
                      "  ^bb0({4}):\n    {5}\n"
                      "  }}) {{scatter_dimension_numbers = #stablehlo.scatter<{6}>}} : ({0}, {1}, {2}) -> {3}\n"
                      "  return %0 : {3}\n}}\n",
                      s.input, s.indices, s.updates, s.result, s.arguments, s.body, s.numbers)};
}

// Dimension numbers with one list replaced.
std::string Numbers(std::string window, std::string inserted, std::string map, int vector) {
  return fmt::format(
      "update_window_dims = {}, inserted_window_dims = {}, scatter_dims_to_operand_dims = {}, index_vector_dim = {}",
      window, inserted, map, vector);
}

std::vector<Case> Scatters() {
  const Scatter batched{.input = "tensor<5x200x300xf32>",
                        .indices = "tensor<5x10x1xi32>",
                        .updates = "tensor<5x10x300xf32>",
                        .result = "tensor<5x200x300xf32>"};
  const auto with_batching = [&](std::string input, std::string indices) {
    Scatter s = batched;
    s.numbers = fmt::format(
        "update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = {}, "
        "scatter_indices_batching_dims = {}, scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
        input, indices);
    return s;
  };
  return {
      Scattered("Plain", "", {}),
      Scattered("Batched", "", with_batching("[0]", "[0]")),
      Scattered("ScalarIndices", "",
                {.indices = "tensor<10xi32>",
                 .updates = "tensor<10x100x300xf32>",
                 .numbers = Numbers("[1, 2]", "[0]", "[0]", 1)}),
      Scattered("BatchingRepeats", "E0405", with_batching("[0, 0]", "[0, 0]")),
      Scattered("BatchingOutOfRange", "E0405", with_batching("[-1]", "[0]")),
      Scattered("IndicesBatchingOutOfRange", "E0405", with_batching("[0]", "[3]")),
      Scattered("IndicesBatchingHoldsVector", "E0405", with_batching("[0]", "[2]")),
      Scattered("BatchingSizes", "E0405", with_batching("[0]", "[1]")),
      Scattered("BatchingIsInserted", "E0405", with_batching("[1]", "[0]")),
      Scattered("BatchingCounts", "E0405", with_batching("[0]", "[]")),
      Scattered("RankNotMade", "E0405", {.numbers = Numbers("[1]", "[0]", "[0, 1]", 1)}),
      Scattered("WindowUnsorted", "E0405",
                {.updates = "tensor<100x300x10xf32>", .numbers = Numbers("[1, 0]", "[0]", "[0, 1]", 1)}),
      Scattered("WindowRepeats", "E0405",
                {.updates = "tensor<10x100x300xf32>", .numbers = Numbers("[1, 1]", "[0]", "[0, 1]", 1)}),
      Scattered("WindowOutOfRange", "E0405", {.numbers = Numbers("[2]", "[0, 1]", "[0, 1]", 1)}),
      Scattered("InsertedUnsorted", "E0405", {.numbers = Numbers("[1]", "[1, 0]", "[0, 1]", 1)}),
      Scattered("InsertedRepeats", "E0405", {.numbers = Numbers("[1]", "[1, 1]", "[0, 1]", 1)}),
      Scattered("InsertedOutOfRange", "E0405", {.numbers = Numbers("[1]", "[0, 3]", "[0, 1]", 1)}),
      Scattered("MapCount", "E0405", {.numbers = Numbers("[1]", "[0, 1]", "[0]", 1)}),
      Scattered("MapOutOfRange", "E0405", {.numbers = Numbers("[1]", "[0, 1]", "[0, 7]", 1)}),
      Scattered("MapRepeats", "E0405", {.numbers = Numbers("[1]", "[0, 1]", "[0, 0]", 1)}),
      Scattered("VectorOutOfRange", "E0405", {.numbers = Numbers("[1]", "[0, 1]", "[0, 1]", 3)}),
      Scattered("VectorNegative", "E0405", {.numbers = Numbers("[1]", "[0, 1]", "[0, 1]", -1)}),
      Scattered("UpdateRank", "E0403", {.updates = "tensor<300xf32>"}),
      Scattered("UpdateWindowTooLarge", "E0405", {.updates = "tensor<10x301xf32>"}),
      Scattered("UpdateBatch", "E0403", {.updates = "tensor<11x300xf32>"}),
      Scattered("UpdateElement", "E0406", {.updates = "tensor<10x300xi32>"}),
      Scattered("FloatIndices", "E0402", {.indices = "tensor<10x2xf32>"}),
      Scattered("ResultShape", "E0403", {.result = "tensor<200x100x301xf32>"}),
      Scattered("ResultElement", "E0403", {.result = "tensor<200x100x300xf64>"}),
      Scattered("BodyArguments", "E0406", {.arguments = "%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>"}),
      Scattered("BodyReturnsNothing", "E0406", {.body = "stablehlo.return"}),
      Scattered("BodyArgumentRank", "E0406",
                {.arguments = "%x: tensor<f32>, %y: tensor<2xf32>", .body = "stablehlo.return %x : tensor<f32>"}),
  };
}
INSTANTIATE_TEST_SUITE_P(Scatter, VerifyOp, ::testing::ValuesIn(Scatters()), CaseName);

// --- while, if, calls ------------------------------------------------------------------------------------------------

Case Loop(std::string name, std::string code, std::string condition, std::string body, std::string results) {
  return {std::move(name), std::move(code),
          fmt::format("func.func @main(%a: tensor<i32>, %b: tensor<4xf32>) {{\n"
                      "  %0:2 = \"stablehlo.while\"(%a, %b) ({{ // !!\n  {}\n  }}, {{\n  {}\n"
                      "  }}) : (tensor<i32>, tensor<4xf32>) -> {}\n  return\n}}\n",
                      condition, body, results)};
}

std::vector<Case> ControlFlow() {
  const std::string condition =
      "^bb0(%i: tensor<i32>, %x: tensor<4xf32>):\n  %c = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n  stablehlo.return %c : tensor<i1>";
  const std::string body =
      "^bb0(%i: tensor<i32>, %x: tensor<4xf32>):\n  stablehlo.return %i, %x : tensor<i32>, tensor<4xf32>";
  const std::string results = "(tensor<i32>, tensor<4xf32>)";
  const auto arguments = [](std::string list, std::string end) { return "^bb0(" + list + "):\n  " + end; };
  const std::string both = "%i: tensor<i32>, %x: tensor<4xf32>";
  return {
      Loop("Loop", "", condition, body, results),
      Loop("ConditionArguments", "E0406", arguments("%i: tensor<i32>", "stablehlo.return %i : tensor<i32>"), body,
           results),
      Loop("ConditionArgumentType", "E0406",
           arguments("%i: tensor<i32>, %x: tensor<5xf32>", "stablehlo.return %i : tensor<i32>"), body, results),
      Loop("ConditionReturnsTwo", "E0406", arguments(both, "stablehlo.return %i, %i : tensor<i32>, tensor<i32>"), body,
           results),
      Loop("ConditionReturnsInteger", "E0406", arguments(both, "stablehlo.return %i : tensor<i32>"), body, results),
      Loop("BodyArguments", "E0406", condition,
           arguments("%i: tensor<i32>, %x: tensor<4xf64>", "stablehlo.return %i, %x : tensor<i32>, tensor<4xf64>"),
           results),
      Loop("BodyReturnsLess", "E0406", condition, arguments(both, "stablehlo.return %i : tensor<i32>"), results),
      Loop("BodyReturnsOther", "E0406", condition,
           arguments(both, "stablehlo.return %x, %i : tensor<4xf32>, tensor<i32>"), results),
      Loop("Results", "E0403", condition, body, "(tensor<i32>, tensor<4xf64>)"),
      {"CallOfNothing", "E0408", "func.func @main() {\n  func.call @absent() : () -> () // !!\n  return\n}\n"},
      {"CallInANestedModule", "",
       "module @outer {\n  module @inner {\n    func.func private @f()\n    func.func @g() {\n      func.call @f() : "
       "() -> ()\n"
       "      return\n    }\n  }\n}\n"},
      {"ChloShape", "E0403",
       "func.func @main(%a: tensor<4xf32>) {\n  %0 = \"chlo.erf\"(%a) : (tensor<4xf32>) -> tensor<5xf32> // !!\n  "
       "return\n}\n"},
      {"ChloBroadcast", "",
       "func.func @main(%a: tensor<4x1xf32>, %b: tensor<3xf32>) {\n"
       "  %0 = chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>\n  return\n}\n"},
      {"ChloBroadcastShape", "E0403",
       "func.func @main(%a: tensor<4x1xf32>, %b: tensor<3xf32>) {\n"
       "  %0 = chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x4xf32> // !!\n  return\n}\n"},
      {"SizeOfADimension", "E0402",
       "func.func @main(%a: tensor<4xf32>) {\n"
       "  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<4xf32>) -> tensor<1xi32> // !!\n  return\n}\n"},
      {"BranchArguments", "E0406",
       "func.func @main(%p: tensor<i1>) {\n  \"stablehlo.if\"(%p) ({ // !!\n  ^bb0(%x: tensor<f32>):\n    "
       "stablehlo.return\n"
       "  }, {\n    stablehlo.return\n  }) : (tensor<i1>) -> ()\n  return\n}\n"},
      {"PermuteFromOneTwice", "E0407",
       "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = \"stablehlo.collective_permute\"(%a) { // !!\n"
       "    source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>\n"
       "  return %0 : tensor<f32>\n}\n"},
      {"PermuteToOneTwice", "E0407",
       "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = \"stablehlo.collective_permute\"(%a) { // !!\n"
       "    source_target_pairs = dense<[[0, 2], [1, 2]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>\n"
       "  return %0 : tensor<f32>\n}\n"},
      {"MistypedScale", "E0409",
       "func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 1.0:17>>) {\n"
       "  %0 = stablehlo.reshape %a : (tensor<2x!quant.uniform<i8:f32, 1.0:17>>) -> "
       "tensor<1x2x!quant.uniform<i8:f32, 2.0:17>> // !!\n  return\n}\n"},
  };
}
INSTANTIATE_TEST_SUITE_P(ControlFlow, VerifyOp, ::testing::ValuesIn(ControlFlow()), CaseName);

std::vector<Case> Functions() {
  return {
      {"CallOperands", "E0408",
       "func.func @f(%a: tensor<f32>) { return }\nfunc.func @main() {\n  func.call @f() : () -> () // !!\n  "
       "return\n}\n"},
      {"CallTypes", "E0408",
       "func.func @f(%a: tensor<f32>) { return }\nfunc.func @main(%a: tensor<i32>) {\n"
       "  func.call @f(%a) : (tensor<i32>) -> () // !!\n  return\n}\n"},
      {"ReturnCount", "E0401", "func.func @main() -> tensor<f32> {\n  return // !!\n}\n"},
      {"ReturnType", "E0403",
       "func.func @main(%a: tensor<f32>) -> tensor<i32> {\n  return %a : tensor<f32> // !!\n}\n"},
      {"NoReturn", "E0406",
       "func.func @main(%a: tensor<f32>) -> tensor<f32> { // !!\n  %0 = stablehlo.abs %a : tensor<f32>\n}\n"},
  };
}
INSTANTIATE_TEST_SUITE_P(Functions, VerifyOp, ::testing::ValuesIn(Functions()), CaseName);

TEST(Verify, ConvolutionWindowsAreReadStrictly) {
  const auto line = [](std::string numbers, std::string window) {
    Diagnostics diagnostics;
    const auto module = read::ReadText(
        "conv.mlir",
        fmt::format("func.func @main(%a: tensor<4x8x6xf32>, %b: tensor<3x6x12xf32>) {{\n"
                    "  %0 = stablehlo.convolution(%a, %b)\n    dim_numbers = {},\n    window = {{{}}}\n"
                    "    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}\n"
                    "    : (tensor<4x8x6xf32>, tensor<3x6x12xf32>) -> tensor<4x6x12xf32>\n  return\n}}\n",
                    numbers, window),
        {}, diagnostics);
    return module.ok() ? 0u : diagnostics.all()[0].location.line;
  };
  const std::string numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  EXPECT_EQ(line(numbers, "stride = [1], pad = [[0, 0]]"), 0u);
  EXPECT_EQ(line("[c, 0, f]x[0, i, o]->[b, 0, f]", ""), 3u);
  EXPECT_EQ(line("[b, 0, f]x[0, i, o]->[b, 0, b]", ""), 3u);
  EXPECT_EQ(line("[b, 0, f]x[1, i, o]->[b, 0, f]", ""), 3u);
  EXPECT_EQ(line(numbers, "pad = [[0, 0, 0]]"), 4u);
  EXPECT_EQ(line(numbers, "pad = [[0]]"), 4u);
  EXPECT_EQ(line(numbers, "stride = [1], stride = [1]"), 4u);
  EXPECT_EQ(line(numbers, "strides = [1]"), 4u);
}

TEST(Verify, ReportsTheDefectsOfAllOpsInOrder) {
  const std::string module =
      "func.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) {\n"
      "  %0 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n"
      "  %1 = stablehlo.and %a, %a : tensor<4xf32>\n"
      "  %2 = stablehlo.slice %a [2:9] : (tensor<4xf32>) -> tensor<7xf32>\n  return\n}\n";
  Diagnostics diagnostics;
  EXPECT_FALSE(read::ReadText("many.mlir", module, {}, diagnostics).ok());
  std::vector<std::string> found;
  for (const Diagnostic& d : diagnostics.all()) found.push_back(fmt::format("{}:{}", d.location.line, d.kind->code));
  EXPECT_THAT(found, ::testing::ElementsAre("2:E0403", "3:E0402", "4:E0405"));
}

}  // namespace
}  // namespace hespas
