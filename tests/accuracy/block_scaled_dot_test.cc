// XLA's matmuls with scales of blocks: what a program's call costs where the device multiplies its format, and
// elsewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../read_program.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/calibrated/kernel_terms.h"
#include "estimate/field/constants.h"
#include "estimate/field/matmul.h"
#include "hardware/presets.h"

namespace hespas::estimate {
namespace {

constexpr int64_t kRows = 64, kColumns = 4096, kDepth = 14336;

// Both sides of one type and one type of scales.
ir::Module Dot(const std::string& type, const std::string& scale, int64_t block) {
  const std::string text = fmt::format(
      "func.func @main(%a: tensor<1x{0}x{2}x{4}>, %b: tensor<1x{1}x{2}x{4}>, %c: tensor<1x{0}x{3}x{5}>, "
      "%d: tensor<1x{1}x{3}x{5}>) -> tensor<1x{0}x{1}xbf16> {{\n"
      "  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %c, %d) : (tensor<1x{0}x{2}x{4}>, "
      "tensor<1x{1}x{2}x{4}>, tensor<1x{0}x{3}x{5}>, tensor<1x{1}x{3}x{5}>) -> tensor<1x{0}x{1}xbf16>\n"
      "  return %0 : tensor<1x{0}x{1}xbf16>\n}}",
      kRows, kColumns, kDepth, kDepth / block, type, scale);
  return Read(text);
}
ir::Module NvFp4() { return Dot("f4E2M1FN", "f8E4M3FN", 16); }
ir::Module MxFp8() { return Dot("f8E4M3FN", "f8E8M0FNU", 32); }

ir::OpId Call(const ir::Module& module) { return module.block(module.body(module.main())).ops.front(); }

hardware::Device Device(const std::string& name) {
  Diagnostics diagnostics;
  return *hardware::LoadDevice(name, diagnostics);
}

graph::Estimate Estimate(const ir::Module& module, const std::string& device) {
  Notes notes;
  const calibrated::Calibrated model(Device(device), *calibrated::DefaultParameters());
  return model.EstimateOp(module, Call(module), notes);
}

double Us(const graph::Estimate& estimate) { return estimate.time.seconds() * 1e6; }

// us behind other kernels of a stream, which leave the gap from one to the next.
double InStream(const calibrated::KernelModel& model, double us, double start_us) {
  return us - start_us + std::min(start_us, model.parameters().stream.launch_us);
}

double FieldUs(const std::string& name, field::Format format, double weight_bytes) {
  const auto device = Device(name);
  const auto chip = field::MakeChip(device);
  const auto& constants = *field::DefaultConstants();
  const field::Matmul matmul{
      .format = format, .m = kRows, .n = kColumns, .k = kDepth, .weight_bytes = weight_bytes, .in_step = true};
  return field::TimeOf(chip, constants, matmul).us - StartUs(chip, constants.matmul) +
         calibrated::KernelModel(device, *calibrated::DefaultParameters()).parameters().stream.launch_us;
}

// As XLA's dot of dequantised values, or by arithmetic and bytes.
double MatmulUs(const ir::Module& module, const std::string& name) {
  const calibrated::KernelModel model(Device(name), *calibrated::DefaultParameters());
  const auto time = model.Time(*calibrated::MatmulOf(module, Call(module), model.machine()));
  return InStream(model, time.us, time.launch_us);
}

TEST(BlockScaledDots, TakeTheFieldModelsTimeWhereTheDeviceMultipliesTheirFormat) {
  EXPECT_NEAR(Us(Estimate(NvFp4(), "B200_180GB")), FieldUs("B200_180GB", field::Format::kNvF4, 0.5 + 1.0 / 16), 1e-3);
  EXPECT_NEAR(Us(Estimate(MxFp8(), "B200_180GB")), FieldUs("B200_180GB", field::Format::kF8, 1 + 1.0 / 32), 1e-3);
}

// No row is of the kernels that XLA runs for them.
TEST(BlockScaledDots, AreAsUncertainAsKernelsWithoutRows) {
  const auto estimate = Estimate(NvFp4(), "B200_180GB");
  EXPECT_NEAR(estimate.sigma.seconds() / estimate.time.seconds(), 1.6, 1e-6);
  EXPECT_EQ(estimate.bound, graph::Bound::kMemory);
}

TEST(BlockScaledDots, AreMatmulsElsewhere) {
  for (const char* device : {"H100_80GB", "MI355X_288GB", "TPUv5p"}) {
    EXPECT_NEAR(Us(Estimate(NvFp4(), device)), MatmulUs(NvFp4(), device), 1e-3) << device;
  }
}

// XLA's matcher knows blocks of 16 by 4 bits and of 32 by 8 alone.
TEST(BlockScaledDots, OfOtherBlocksAreMatmuls) {
  for (const auto& module : {Dot("f8E4M3FN", "f32", 128), Dot("f4E2M1FN", "f8E8M0FNU", 32),
                             Dot("f4E2M1FN", "f8E4M3FN", 32), Dot("f8E5M2", "f8E8M0FNU", 32)}) {
    EXPECT_NEAR(Us(Estimate(module, "B200_180GB")), MatmulUs(module, "B200_180GB"), 1e-3);
  }
}

TEST(BlockScaledDots, MoveTheirScales) {
  const auto module = NvFp4();
  constexpr int64_t kSides = (kRows + kColumns) * kDepth;
  EXPECT_EQ(CostOf(module, Call(module)).bytes, kSides / 2 + kSides / 16 + 2 * kRows * kColumns);
  EXPECT_EQ(CostOf(module, Call(module)).flops, 2 * kRows * kColumns * kDepth);
}

TEST(BlockScaledDots, ShowTheSameTimeInTheirTerms) {
  const auto module = NvFp4();
  const auto device = Device("B200_180GB");
  const calibrated::KernelModel model(device, *calibrated::DefaultParameters());
  const auto terms = calibrated::TermsOf(model, device, calibrated::LeafFactsOf(module, Call(module)));
  ASSERT_TRUE(terms && terms->own && terms->matmuls.empty());
  EXPECT_NEAR(terms->matrix_us + model.parameters().stream.launch_us, Us(Estimate(module, "B200_180GB")), 1e-3);
}

}  // namespace
}  // namespace hespas::estimate
