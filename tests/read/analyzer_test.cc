// The histogram against what the prototype's analyzer printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/system/file.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas {
namespace {

const std::filesystem::path kData = std::filesystem::path(HESPAS_SOURCE_DIR) / "tests/data";

struct Variant {
  const char* file;
  report::Extent extent;
  bool operand_types;
  bool csv;
};

constexpr Variant kVariants[] = {
    {"plain", report::Extent::kMain, false, false},    {"expand", report::Extent::kExpanded, false, false},
    {"csv", report::Extent::kMain, false, true},       {"csv_expand", report::Extent::kExpanded, false, true},
    {"sensitive", report::Extent::kMain, true, false}, {"sensitive_csv_expand", report::Extent::kExpanded, true, true},
};

class PrototypeAnalyzer : public testing::TestWithParam<std::string> {};

TEST_P(PrototypeAnalyzer, PrintsTheSame) {
  Diagnostics diagnostics;
  const std::filesystem::path program = kData / "fixtures" / (GetParam() + ".mlir.gz");
  const auto module = read::ReadProgram(program.string(), {}, diagnostics);
  ASSERT_TRUE(module.ok()) << Render(module.error());
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.file);
    auto golden = ReadInput((kData / "analyzer" / GetParam() / (std::string(variant.file) + ".txt")).string());
    ASSERT_TRUE(golden.ok());
    const std::string expected = golden->substr(golden->find('\n') + 1);  // without the log line
    const report::Histogram histogram = report::CountOperators(
        *module, {.extent = variant.extent, .operand_types = variant.operand_types, .compatible = true});
    EXPECT_EQ(report::ToPrototypeText(histogram, variant.csv), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PrototypeAnalyzer,
                         testing::Values("convolution", "custom_call_topk", "jax_example",
                                         "resnet_50_inference_step_4_devices_1024_batch",
                                         "resnet_50_train_step_4_devices_1024_batch", "test_dependency_graph",
                                         "test_no_comm_graph", "test_split_replica_groups"));

report::Histogram Count(const char* text, report::HistogramOptions options) {
  Diagnostics diagnostics;
  const auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  EXPECT_TRUE(module.ok());
  return report::CountOperators(*module, options);
}

constexpr const char* kCallsAndFusions = R"(
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "mhlo.fusion"(%0) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%x: tensor<2xf32>):
    %2 = stablehlo.tanh %x : tensor<2xf32>
    mhlo.return %2 : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @once(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @once(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @once(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
)";

TEST(Histogram, ExpandsCallsAndFusions) {
  const auto expanded = Count(kCallsAndFusions, {.extent = report::Extent::kExpanded});
  EXPECT_EQ(
      report::ToJson(expanded),
      "{\"total\": 5, \"unique\": 4, \"ops\": {\"stablehlo.negate\": 2, \"stablehlo.tanh\": 1, \"mhlo.return\": 1, "
      "\"func.return\": 1}}\n");
  const auto plain = Count(kCallsAndFusions, {.extent = report::Extent::kMain});
  EXPECT_EQ(report::ToCsv(plain), "op,count\nfunc.call,1\nmhlo.fusion,1\nfunc.return,1\n");
}

TEST(Histogram, RecursiveCallsStayCalls) {
  const auto histogram = Count(R"(
func.func @main() {
  call @f() : () -> ()
  return
}
func.func @f() {
  call @g() : () -> ()
  return
}
func.func @g() {
  call @f() : () -> ()
  return
}
)",
                               {.extent = report::Extent::kExpanded});
  EXPECT_EQ(report::ToJson(histogram),
            "{\"total\": 2, \"unique\": 2, \"ops\": {\"func.call\": 1, \"func.return\": 1}}\n");
}

TEST(Histogram, CountsDoublingCallsWithoutWalkingThem) {
  std::string text = "func.func @main() {\n  call @f0() : () -> ()\n  return\n}\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("func.func @f{}() {{\n  call @f{}() : () -> ()\n  call @f{}() : () -> ()\n  return\n}}\n", i,
                        i + 1, i + 1);
  }
  text += "func.func @f60() {\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n  return\n}\n";
  const auto histogram = Count(text.c_str(), {.extent = report::Extent::kExpanded});
  EXPECT_EQ(histogram.total, (int64_t{1} << 60) + 1);
}

}  // namespace
}  // namespace hespas
