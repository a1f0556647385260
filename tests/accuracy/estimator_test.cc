// The calibrated estimator on small programs: each op against the kernel it represents.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "estimate/calibrated/calibrated.h"
#include "estimate/calibrated/instructions.h"
#include "estimate/calibrated/matmuls.h"
#include "hardware/presets.h"
#include "read/read.h"
#include "validate/validation.h"

namespace hespas::estimate::calibrated {
namespace {

ir::Module Program(const std::string& text) {
  Diagnostics diagnostics;
  auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return *std::move(module);
}

hardware::Device H100() {
  Diagnostics diagnostics;
  return *hardware::LoadDevice("H100_80GB", diagnostics);
}

ir::OpId FirstOp(const ir::Module& module, ir::OpKind kind) {
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.kind(op) == kind) return op;
  }
  return ir::OpId();
}

graph::Estimate Estimate(const ir::Module& module, ir::OpKind kind) {
  Notes notes;
  return Calibrated(H100(), *DefaultParameters()).EstimateOp(module, FirstOp(module, kind), notes);
}

constexpr const char* kDot = R"(
func.func @main(%a: tensor<2x64x128xbf16>, %b: tensor<2x128x32xbf16>) -> tensor<2x64x32xbf16> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x64x128xbf16>, tensor<2x128x32xbf16>) -> tensor<2x64x32xbf16>
  return %0 : tensor<2x64x32xbf16>
}
)";

TEST(Matmuls, ADotIsItsBatchRowsColumnsAndContraction) {
  const auto module = Program(kDot);
  const auto matmul = MatmulOf(module, FirstOp(module, ir::OpKind::kDotGeneral), MakeMachine(H100()));
  ASSERT_TRUE(matmul.has_value());
  EXPECT_EQ(matmul->b, 2);
  EXPECT_EQ(matmul->m, 64);
  EXPECT_EQ(matmul->n, 32);
  EXPECT_EQ(matmul->k, 128);
  EXPECT_EQ(matmul->type, Datatype::kBf16);
}

TEST(Matmuls, SingleFloatsBecomeTf32UnlessThePrecisionForbidsIt) {
  const std::string head =
      "func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {\n  %0 = stablehlo.dot_general %a, %a, "
      "contracting_dims = [1] x [0]";
  const std::string tail =
      " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>\n}\n";
  const auto fast = Program(head + tail);
  const auto exact = Program(head + ", precision = [HIGHEST, HIGHEST]" + tail);
  const Machine machine = MakeMachine(H100());
  EXPECT_EQ(MatmulOf(fast, FirstOp(fast, ir::OpKind::kDotGeneral), machine)->type, Datatype::kTf32);
  EXPECT_EQ(MatmulOf(exact, FirstOp(exact, ir::OpKind::kDotGeneral), machine)->type, Datatype::kF32);
}

TEST(Estimator, ADotTakesItsKernelsTimeWithoutTheLoneLaunch) {
  const auto module = Program(kDot);
  const Parameters& parameters = *DefaultParameters();
  const KernelModel model(H100(), parameters);
  const double kernel_us =
      model.Time({.shape = Shape::kBatchedGemm, .type = Datatype::kBf16, .b = 2, .m = 64, .n = 32, .k = 128}).us;
  const auto estimate = Estimate(module, ir::OpKind::kDotGeneral);
  EXPECT_NEAR(estimate.time.seconds() * 1e6, kernel_us - parameters.gemm.launch_us + parameters.stream.launch_us, 1e-5);
  EXPECT_EQ(estimate.flops.value, 2 * 2 * 64 * 32 * 128);
  EXPECT_GT(estimate.sigma.value, 0);
}

TEST(Estimator, AConvolutionIsAnImplicitMatmul) {
  const auto module = Program(R"(
func.func @main(%a: tensor<8x32x32x16xbf16>, %k: tensor<3x3x16x64xbf16>) -> tensor<8x32x32x64xbf16> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<8x32x32x16xbf16>, tensor<3x3x16x64xbf16>) -> tensor<8x32x32x64xbf16>
  return %0 : tensor<8x32x32x64xbf16>
}
)");
  const auto matmul = MatmulOf(module, FirstOp(module, ir::OpKind::kConvolution), MakeMachine(H100()));
  ASSERT_TRUE(matmul.has_value());
  EXPECT_EQ(matmul->m, 8 * 32 * 32);
  EXPECT_EQ(matmul->n, 64);
  EXPECT_EQ(matmul->k, 16 * 9);
}

TEST(Estimator, AnExponentialOfManyElementsCostsMoreThanACopy) {
  const auto module = Program(R"(
func.func @main(%a: tensor<64000000xf32>) -> (tensor<64000000xf32>, tensor<64000000xf32>) {
  %0 = stablehlo.tanh %a : tensor<64000000xf32>
  %1 = stablehlo.negate %a : tensor<64000000xf32>
  return %0, %1 : tensor<64000000xf32>, tensor<64000000xf32>
}
)");
  const Instructions tanh = OpInstructions(module, FirstOp(module, ir::OpKind::kTanh));
  EXPECT_EQ(tanh.lanes, 21 * 64e6);
  EXPECT_EQ(tanh.special, 64e6);
  EXPECT_GT(Estimate(module, ir::OpKind::kTanh).time, Estimate(module, ir::OpKind::kNegate).time);
  EXPECT_EQ(Estimate(module, ir::OpKind::kNegate).bound, graph::Bound::kMemory);
}

TEST(Estimator, AnUpdateInPlaceCostsTheUpdateAlone) {
  const auto module = Program(R"(
func.func @main(%a: tensor<128x32x1024xf32>, %b: tensor<32x1024xf32>, %i: tensor<i32>) -> tensor<128x32x1024xf32> {
  %0 = "mhlo.fusion"(%a, %b, %i) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%x: tensor<128x32x1024xf32>, %y: tensor<32x1024xf32>, %p: tensor<i32>):
    %1 = "stablehlo.negate"(%y) : (tensor<32x1024xf32>) -> tensor<32x1024xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<32x1024xf32>) -> tensor<1x32x1024xf32>
    %3 = "stablehlo.dynamic_update_slice"(%x, %2, %p, %p, %p) : (tensor<128x32x1024xf32>, tensor<1x32x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<128x32x1024xf32>
    "mhlo.return"(%3) : (tensor<128x32x1024xf32>) -> ()
  }) : (tensor<128x32x1024xf32>, tensor<32x1024xf32>, tensor<i32>) -> tensor<128x32x1024xf32>
  return %0 : tensor<128x32x1024xf32>
}
)");
  EXPECT_EQ(FusionInstructions(module, FirstOp(module, ir::OpKind::kFusion)).lanes, 32 * 1024);
}

// Exponentials of a matrix and their sums along one dimension: of each row, or of each column.
std::string SumsOver(int dimension) {
  return fmt::format(R"(
func.func @main(%a: tensor<8192x8192xf32>) -> tensor<8192xf32> {{
  %0 = "mhlo.fusion"(%a) <{{fusion_kind = #mhlo<fusion_kind kInput>}}> ({{
  ^bb0(%x: tensor<8192x8192xf32>):
    %1 = "stablehlo.exponential"(%x) : (tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
    %2 = "stablehlo.constant"() <{{value = dense<0.0> : tensor<f32>}}> : () -> tensor<f32>
    %3 = "stablehlo.reduce"(%1, %2) <{{dimensions = array<i64: {}>}}> ({{
    ^bb1(%p: tensor<f32>, %q: tensor<f32>):
      %4 = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%4) : (tensor<f32>) -> ()
    }}) : (tensor<8192x8192xf32>, tensor<f32>) -> tensor<8192xf32>
    "mhlo.return"(%3) : (tensor<8192xf32>) -> ()
  }}) : (tensor<8192x8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}}
)",
                     dimension);
}

TEST(Estimator, SumsAlongRowsIssueFasterThanSumsAcrossThem) {
  const auto rows = Program(SumsOver(1)), columns = Program(SumsOver(0));
  const Instructions of_rows = FusionInstructions(rows, FirstOp(rows, ir::OpKind::kFusion));
  const Instructions of_columns = FusionInstructions(columns, FirstOp(columns, ir::OpKind::kFusion));
  EXPECT_TRUE(of_rows.streamed);
  EXPECT_FALSE(of_columns.streamed);
  EXPECT_EQ(of_rows.lanes, of_columns.lanes);
  EXPECT_LT(Estimate(rows, ir::OpKind::kFusion).time, Estimate(columns, ir::OpKind::kFusion).time);
}

TEST(Estimator, ASliceOfARenamedParameterReadsTheSlice) {
  const auto module = Program(R"(
func.func @main(%a: tensor<256x64x64xf32>) -> tensor<4096xf32> {
  %0 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%x: tensor<256x64x64xf32>):
    %1 = "stablehlo.reshape"(%x) : (tensor<256x64x64xf32>) -> tensor<256x4096xf32>
    %2 = "stablehlo.slice"(%1) <{start_indices = array<i64: 7, 0>, limit_indices = array<i64: 8, 4096>, strides = array<i64: 1, 1>}> : (tensor<256x4096xf32>) -> tensor<1x4096xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1x4096xf32>) -> tensor<4096xf32>
    "mhlo.return"(%3) : (tensor<4096xf32>) -> ()
  }) : (tensor<256x64x64xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
)");
  EXPECT_EQ(CostOf(module, FirstOp(module, ir::OpKind::kFusion)).bytes, 2 * 4 * 4096);
}

TEST(Estimator, AMatmulInAFusionHasItsOperandsMadeInFull) {
  const auto module = Program(R"(
func.func @main(%a: tensor<64x4096xf32>, %b: tensor<4096x8xf32>) -> tensor<64x8xf32> {
  %0 = "mhlo.fusion"(%a, %b) <{fusion_kind = #mhlo<fusion_kind kOutput>}> ({
  ^bb0(%x: tensor<64x4096xf32>, %y: tensor<4096x8xf32>):
    %1 = "stablehlo.negate"(%x) : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
    %2 = "stablehlo.dot_general"(%1, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x4096xf32>, tensor<4096x8xf32>) -> tensor<64x8xf32>
    "mhlo.return"(%2) : (tensor<64x8xf32>) -> ()
  }) : (tensor<64x4096xf32>, tensor<4096x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
)");
  EXPECT_EQ(FusionInstructions(module, FirstOp(module, ir::OpKind::kFusion)).lanes, 64 * 4096);
}

TEST(Estimator, ItsKeyNamesDeviceAndConstants) {
  const Parameters& parameters = *DefaultParameters();
  hardware::Device device = H100();
  const Hash128 before = Calibrated(device, parameters).key();
  EXPECT_EQ(Calibrated(device, parameters).key(), before);
  device.calibration["gemm.launch_us"] = 1;
  EXPECT_NE(Calibrated(device, parameters).key(), before);
}

// Unknown SMs count as 100, but say nothing of memory.
TEST(Estimator, ItsKeyTellsUnknownSmsFromAsManyKnownOnes) {
  hardware::Device device = H100();
  device.lanes_per_sm = 64;
  device.sm_count.reset();
  const Hash128 unknown = Calibrated(device, *DefaultParameters()).key();
  device.sm_count = 100;
  EXPECT_NE(Calibrated(device, *DefaultParameters()).key(), unknown);
}

// Sigma over time of the only op.
double Uncertainty(const std::string& program, ir::OpKind kind) {
  const graph::Estimate estimate = Estimate(Program(program), kind);
  return static_cast<double>(estimate.sigma.value) / static_cast<double>(estimate.time.value);
}

TEST(Uncertainty, IsWiderWhereL2MayHoldWhatAKernelReads) {
  const auto sum = [](const std::string& type) {
    const std::string text = "func.func @main(%a: T) -> T {\n  %0 = stablehlo.add %a, %a : T\n  return %0 : T\n}\n";
    return Uncertainty(std::regex_replace(text, std::regex("T"), "tensor<" + type + "xf32>"), ir::OpKind::kAdd);
  };
  const double beyond = sum("32768x1024");  // 268 MB
  EXPECT_GT(sum("1024x1024"), 2 * beyond);  // 8 MB
}

TEST(Uncertainty, IsLargestWithoutACalibrationRow) {
  EXPECT_NEAR(Uncertainty(R"(
func.func @main(%a: tensor<4096x1024xf32>, %i: tensor<512x1xi32>, %u: tensor<512x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4096x1024xf32>, tensor<512x1xi32>, tensor<512x1024xf32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
)",
                          ir::OpKind::kScatter),
              1.6, 1e-3);
}

}  // namespace
}  // namespace hespas::estimate::calibrated
