#include "transform/unwrap_manual.h"

#include <gmock/gmock.h>

#include <string>

#include "../read_program.h"
#include "ir/facts/shardings.h"
#include "ir/verify/verify.h"

namespace hespas::transform {
namespace {

ir::Module Program(const std::string& main, const std::string& mesh = R"(["x"=8])") {
  return Read("module @m attributes {mhlo.num_partitions = 8 : i32} {\n  sdy.mesh @mesh = <" + mesh + ">\n" + main +
              "\n}\n");
}

std::string SignatureOf(const ir::Module& module) {
  return std::string(*module.attribute(module.main(), "function_type"));
}

constexpr const char* kTanh = R"(
  func.func public @main(%arg0: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x4xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<8x4xf32>) {
      %1 = stablehlo.tanh %arg1 : tensor<8x4xf32>
      sdy.return %1 : tensor<8x4xf32>
    } : (tensor<64x4xf32>) -> tensor<64x4xf32>
    return %0 : tensor<64x4xf32>
  })";

TEST(UnwrapManual, LeavesWhatEachDeviceRuns) {
  ir::Module module = Program(kTanh);
  EXPECT_TRUE(ir::AwaitsPartitioner(module));
  ASSERT_TRUE(UnwrapManual(module));
  EXPECT_EQ(SignatureOf(module), "(tensor<8x4xf32>) -> tensor<8x4xf32>");
  EXPECT_EQ(module.block(module.body(module.main())).ops.size(), 2u);  // tanh, return
  EXPECT_FALSE(ir::AwaitsPartitioner(module));
  Diagnostics defects;
  ir::Verify(module, ir::Origin::kMlir, defects);
  for (const Diagnostic& defect : defects.all()) ADD_FAILURE() << Render(defect);
}

TEST(UnwrapManual, NeedsAllAxesManual) {
  ir::Module module = Program(kTanh, R"(["x"=8, "y"=2])");
  EXPECT_FALSE(UnwrapManual(module));
  EXPECT_EQ(SignatureOf(module), "(tensor<64x4xf32>) -> tensor<64x4xf32>");
}

TEST(UnwrapManual, LeavesWorkOnGlobalValuesToAPartitioner) {
  std::string text = kTanh;
  const std::string end = "    return %0";
  text.replace(text.find(end), end.size(), "    %2 = stablehlo.add %0, %0 : tensor<64x4xf32>\n    return %2");
  ir::Module module = Program(text);
  EXPECT_FALSE(UnwrapManual(module));
}

TEST(UnwrapManual, LeavesValuesThatMoveToAPartitioner) {
  std::string text = kTanh;
  const std::string argument = R"([{"x"}, {}]>})";
  text.replace(text.find(argument), argument.size(), R"([{}, {}]>})");
  ir::Module module = Program(text);
  EXPECT_FALSE(UnwrapManual(module));
}

TEST(UnwrapManual, ReadsTheMarkersOfGspmd) {
  ir::Module module = Program(R"(
  func.func public @main(%arg0: tensor<64x4xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) -> tensor<64x4xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<64x4xf32>) -> tensor<64x4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<64x4xf32>) -> tensor<8x4xf32>
    %2 = func.call @body(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<8x4xf32>) -> tensor<64x4xf32>
    return %4 : tensor<64x4xf32>
  }
  func.func private @body(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  })",
                              R"(["x"=8])");
  ASSERT_TRUE(UnwrapManual(module));
  EXPECT_EQ(SignatureOf(module), "(tensor<8x4xf32>) -> tensor<8x4xf32>");
  EXPECT_EQ(module.block(module.body(module.main())).ops.size(), 2u);  // call, return
  EXPECT_FALSE(ir::AwaitsPartitioner(module));
}

}  // namespace
}  // namespace hespas::transform
