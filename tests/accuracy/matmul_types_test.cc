// What XLA multiplies for a type and precision on each device, and custom kernels, by whole estimates of single ops.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "../read_program.h"
#include "estimate/arithmetic.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/prefix_sum.h"
#include "estimate/ragged_dot.h"
#include "hardware/presets.h"

namespace hespas::estimate {
namespace {

hardware::Device Device(const std::string& name) {
  Diagnostics diagnostics;
  return *hardware::LoadDevice(name, diagnostics);
}

ir::OpId FirstOp(const ir::Module& module) { return module.block(module.body(module.main())).ops.front(); }

double Microseconds(const ir::Module& module, const std::string& device) {
  Notes notes;
  const calibrated::Calibrated model(Device(device), *calibrated::DefaultParameters());
  return static_cast<double>(model.EstimateOp(module, FirstOp(module), notes).time.value) * 1e-6;
}

// A matmul of two square matrices of 4096.
std::string Dot(const std::string& type, const std::string& options = "", const std::string& result = "") {
  const std::string out = result.empty() ? type : result;
  return fmt::format(
      "func.func @main(%a: tensor<4096x4096x{0}>, %b: tensor<4096x4096x{0}>) -> tensor<4096x4096x{1}> {{\n"
      "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]{2} : (tensor<4096x4096x{0}>, "
      "tensor<4096x4096x{0}>) -> tensor<4096x4096x{1}>\n  return %0 : tensor<4096x4096x{1}>\n}}",
      type, out, options);
}

double DotMicroseconds(const std::string& device, const std::string& type, const std::string& options = "",
                       const std::string& result = "") {
  return Microseconds(Read(Dot(type, options, result)), device);
}

constexpr const char* kHigh = ", precision = [HIGH, HIGH]";
constexpr const char* kHighest = ", precision = [HIGHEST, HIGHEST]";
constexpr double kGigaflop = 2.0 * 4096 * 4096 * 4096 * 1e-9;

TEST(MatmulTypes, ATpuMultipliesSingleFloatsInOneThreeOrSixPasses) {
  const double once = DotMicroseconds("TPUv5p", "f32");
  EXPECT_NEAR(DotMicroseconds("TPUv5p", "f32", kHigh) / once, 3, 0.3);
  EXPECT_NEAR(DotMicroseconds("TPUv5p", "f32", kHighest) / once, 6, 0.6);
}

TEST(MatmulTypes, NvidiaRunsTf32UpToHighAndAmdNever) {
  const double tf32 = DotMicroseconds("H100_80GB", "f32");
  EXPECT_LT(tf32, 500);
  EXPECT_DOUBLE_EQ(DotMicroseconds("H100_80GB", "f32", kHigh), tf32);
  EXPECT_GT(DotMicroseconds("H100_80GB", "f32", kHighest), 2000);
  EXPECT_GT(DotMicroseconds("MI300X", "f32"), kGigaflop / 163.4e3 * 1e6);
}

TEST(MatmulTypes, ADotAlgorithmOverridesThePrecision) {
  const auto algorithm = [](const std::string& type, int passes) {
    return fmt::format(
        ", precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = {0}, rhs_precision_type = {0}, "
        "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {1}, "
        "allow_imprecise_accumulation = false>",
        type, passes);
  };
  EXPECT_GT(DotMicroseconds("H100_80GB", "f32", algorithm("f32", 1)), 2000);
  const double once = DotMicroseconds("H100_80GB", "f32", algorithm("bf16", 1));
  EXPECT_NEAR(DotMicroseconds("H100_80GB", "f32", algorithm("bf16", 6)) / once, 6, 1.2);
}

TEST(MatmulTypes, ACublasCallKeepsItsPrecision) {
  const std::string text = R"(HloModule m
ENTRY main {
  a = f32[4096,4096]{1,0} parameter(0)
  b = f32[4096,4096]{1,0} parameter(1)
  ROOT g = f32[4096,4096]{1,0} custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"alpha_real":1,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]},"precision_config":{"operand_precision":["HIGHEST","HIGHEST"],"algorithm":"ALG_UNSET"},"epilogue":"DEFAULT"}}
})";
  EXPECT_GT(Microseconds(Read(text), "H100_80GB"), 2000);
}

TEST(MatmulTypes, ADeviceWithoutATypeRunsWhatXlaConvertsItTo) {
  EXPECT_NEAR(DotMicroseconds("A100_SXM_80GB", "f8E4M3FN", "", "f32"),
              DotMicroseconds("A100_SXM_80GB", "f16", "", "f32"), 20);
  EXPECT_NEAR(DotMicroseconds("H100_80GB", "f4E2M1FN", "", "f32"), DotMicroseconds("H100_80GB", "f16", "", "f32"), 20);
  EXPECT_NEAR(DotMicroseconds("H100_80GB", "i4", "", "i32"), DotMicroseconds("H100_80GB", "i8", "", "i32"), 20);
  // Pairs of f32: three matmuls of six bf16 passes.
  EXPECT_NEAR(DotMicroseconds("TPUv5p", "f64") / DotMicroseconds("TPUv5p", "f32"), 18, 2);
}

TEST(MatmulTypes, AComplexMatmulIsFourRealOnes) {
  const double real = DotMicroseconds("H100_80GB", "f64");
  EXPECT_NEAR(DotMicroseconds("H100_80GB", "complex<f64>") / real, 4, 0.4);
  EXPECT_NEAR(DotMicroseconds("H100_80GB", "complex<f32>") / DotMicroseconds("H100_80GB", "f32"), 4, 0.6);
}

// No type and no precision beats the device's own figures.
TEST(MatmulTypes, NothingRunsFasterThanItsPeakOnAnyDevice) {
  for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kDevice)) {
    const auto device = Device(name);
    const auto machine = calibrated::MakeMachine(device);
    for (const char* type : {"f64", "f32", "bf16", "f16", "f8E4M3FN", "f4E2M1FN", "i8", "i4", "ui4", "i32", "i64", "i1",
                             "complex<f32>", "complex<f64>"}) {
      for (const char* options : {"", kHigh, kHighest}) {
        const auto module = Read(Dot(type, options));
        const double peak = SecondsOn(machine, ArithmeticOf(module, FirstOp(module)));
        ASSERT_TRUE(std::isfinite(peak) && peak > 0) << name << type;
        EXPECT_GE(Microseconds(module, name) * 1.000001, peak * 1e6) << name << " " << type << options;
      }
    }
  }
}

std::string Ragged(const std::string& lhs, const std::string& rhs, const std::string& out, const std::string& numbers) {
  return fmt::format(
      "func.func @main(%a: tensor<{0}xbf16>, %b: tensor<{1}xbf16>, %g: tensor<8xi32>) -> tensor<{2}xbf16> {{\n"
      "  %0 = \"chlo.ragged_dot\"(%a, %b, %g) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{3}>}}> : "
      "(tensor<{0}xbf16>, tensor<{1}xbf16>, tensor<8xi32>) -> tensor<{2}xbf16>\n  return %0 : tensor<{2}xbf16>\n}}",
      lhs, rhs, out, numbers);
}

// 2 * 16384 * 8192 * 2048, whichever of the three is ragged.
TEST(RaggedDots, CountTheSameForwardAndInBothGradients) {
  constexpr double kFlops = 2.0 * 16384 * 8192 * 2048;
  const auto flops = [](const std::string& text) {
    const auto module = Read(text);
    return static_cast<double>(CostOf(module, FirstOp(module)).flops);
  };
  EXPECT_EQ(flops(Ragged("16384x8192", "8x8192x2048", "16384x2048",
                         "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = "
                         "[0], rhs_group_dimensions = [0]")),
            kFlops);
  EXPECT_EQ(flops(Ragged("16384x2048", "8x8192x2048", "16384x8192",
                         "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = "
                         "[0], rhs_group_dimensions = [0]")),
            kFlops);
  const std::string gradient =
      "lhs_contracting_dimensions = [{0}], rhs_contracting_dimensions = [{0}], lhs_ragged_dimensions = [{0}]";
  EXPECT_EQ(flops(Ragged("16384x8192", "16384x2048", "8x8192x2048", fmt::format(fmt::runtime(gradient), 0))), kFlops);
  EXPECT_EQ(flops(Ragged("8192x16384", "2048x16384", "8x8192x2048", fmt::format(fmt::runtime(gradient), 1))), kFlops);
}

// 16384 rows in 8 groups: 32 blocks of 512 and 7 that two groups share. 1408 columns are two blocks of 1024.
TEST(RaggedDots, MultiplyWholeBlocksWhereTheProgramTellsThem) {
  const std::string numbers =
      "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
      "rhs_group_dimensions = [0]";
  std::string text = Ragged("16384x2048", "8x2048x1408", "16384x1408", numbers);
  const auto plain = Read(text);
  text.insert(text.find("}> :") + 2, " {mhlo.frontend_attributes = {ragged_dot_tiling = \"512,1024,1024\"}}");
  const auto tiled = Read(text);
  const OpCost cost = CostOf(tiled, FirstOp(tiled));
  EXPECT_EQ(cost.flops, CostOf(plain, FirstOp(plain)).flops);
  EXPECT_NEAR(cost.padding, (39.0 / 32) * (2048.0 / 1408), 1e-12);
  // The rows again for each of two blocks of columns, and a group's weights for each of 39 blocks of rows.
  EXPECT_EQ(cost.bytes, 2 * (2 * 16384 * 2048LL + 39 * 2048 * 1408LL + 16384 * 1408LL));
  EXPECT_GT(Microseconds(tiled, "TPUv5p"), 1.5 * Microseconds(plain, "TPUv5p"));
}

TEST(PrefixSums, CostWhatXlaRunsInsteadOfAWindowForEachElement) {
  const auto module = Read(R"(
func.func @main(%a: tensor<4x1048576xf32>, %z: tensor<f32>) -> tensor<4x1048576xf32> {
  %0 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 0], [1048575, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1048576>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x1048576xf32>, tensor<f32>) -> tensor<4x1048576xf32>
  return %0 : tensor<4x1048576xf32>
})");
  const OpCost cost = CostOf(module, FirstOp(module));
  EXPECT_LT(cost.flops, 18 * (4 << 20));
  EXPECT_GT(cost.flops, 15 * (4 << 20));
  EXPECT_LT(Microseconds(module, "H100_80GB"), 200);
}

TEST(VectorDots, AreReducedToAMultiplicationAndASum) {
  const auto module = Read(R"(
func.func @main(%a: tensor<9216x3xf32>, %b: tensor<9216x3xf32>) -> tensor<9216xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<9216x3xf32>, tensor<9216x3xf32>) -> tensor<9216xf32>
  return %0 : tensor<9216xf32>
})");
  EXPECT_LT(Microseconds(module, "H100_80GB"), 5);
}

std::string Call(const std::string& target, const std::string& config, const std::string& in, const std::string& out) {
  return fmt::format(
      "func.func @main(%a: tensor<{2}>, %b: tensor<{2}>, %c: tensor<{2}>) -> tensor<{3}> {{\n"
      "  %0 = stablehlo.custom_call @{0}(%a, %b, %c) {{backend_config = \"{1}\"}} : (tensor<{2}>, tensor<{2}>, "
      "tensor<{2}>) -> tensor<{3}>\n  return %0 : tensor<{3}>\n}}",
      target, config, in, out);
}

TEST(CustomKernels, APallasKernelSaysItsWork) {
  const auto module = Read(Call(
      "tpu_custom_call",
      R"({\22custom_call_config\22: {\22cost_estimate\22: {\22bytes_accessed\22:1000,\22flops\22:276488519680,\22transcendentals\22:7}}})",
      "8x16x2048x128xbf16", "8x16x2048x128xbf16"));
  const OpCost cost = CostOf(module, FirstOp(module));
  EXPECT_EQ(cost.flops, 276488519680);
  EXPECT_EQ(cost.bytes, 1000);
  EXPECT_EQ(cost.transcendentals, 7);
  EXPECT_TRUE(cost.known);
  EXPECT_NEAR(Microseconds(module, "TPUv5p"), 276488519680 / 459e6, 150);
}

TEST(CustomKernels, CudnnAttentionCountsWhatItsMaskLeaves) {
  const auto flops = [](const std::string& target, const std::string& mask) {
    const std::string config =
        R"({\22cudnn_fmha_backend_config\22: {\22intermediate_tensor_shape\22: {\22dimensions\22: [\228\22, \2216\22, \222048\22, \222048\22]}, \22mask_type\22: \22)" +
        mask + R"(\22, \22sliding_window_length\22: 0}})";
    const auto module = Read(Call(target, config, "8x2048x16x128xbf16", "8x16x2048x128xbf16"));
    return static_cast<double>(CostOf(module, FirstOp(module)).flops);
  };
  constexpr double kScores = 8.0 * 16 * 2048 * 2048;
  EXPECT_EQ(flops("__cudnn$fmhaSoftmax", "NO_MASK"), 2 * 2 * kScores * 128);
  EXPECT_EQ(flops("__cudnn$fmhaSoftmax", "CAUSAL"), 2 * 2 * kScores * 128 * 2049 / 4096);
  EXPECT_EQ(flops("__cudnn$fmhaSoftmaxBackward", "NO_MASK"), 5 * 2 * kScores * 128);
}

TEST(CustomKernels, ADecompositionWaitsForItsPanels) {
  const auto module = Read(R"(
func.func @main(%a: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @cusolver_syevd_ffi(%a) : (tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<1024x1024xf32>, tensor<1024xf32>, tensor<i32>
})");
  EXPECT_EQ(CostOf(module, FirstOp(module)).flops, 9LL << 30);
  EXPECT_GT(Microseconds(module, "H100_80GB"), 5000);
}

TEST(CustomKernels, ACallbackCrossesTheHostsLink) {
  const auto module = Read(R"(
func.func @main(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%a) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
})");
  EXPECT_GT(Microseconds(module, "H100_80GB"), 8388608 / 64e3);
}

// A tile holds whole rows: the sum that all of a row's quotients need is made once.
TEST(TritonFusions, MakeARowsReductionOnce) {
  const std::string text = R"(HloModule m
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}
%softmax (p: f32[16,1000]) -> f32[16,500] {
  %p = f32[16,1000]{1,0} parameter(0)
  %e = f32[16,1000]{1,0} exponential(%p)
  %z = f32[] constant(0)
  %r = f32[16]{0} reduce(%e, %z), dimensions={1}, to_apply=%add
  %b = f32[16,1000]{1,0} broadcast(%r), dimensions={0}
  %d = f32[16,1000]{1,0} divide(%e, %b)
  ROOT %h = f32[16,500]{1,0} slice(%d), slice={[0:16], [0:500]}
}
ENTRY main {
  a = f32[16,1000]{1,0} parameter(0)
  ROOT f = f32[16,500]{1,0} fusion(a), kind=kCustom, calls=%softmax, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","500"]}]}}}
})";
  EXPECT_LT(Microseconds(Read(text), "A100_SXM_40GB"), 10);
}

}  // namespace
}  // namespace hespas::estimate
