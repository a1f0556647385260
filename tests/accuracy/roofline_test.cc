// The roofline by hand: the longer of arithmetic at peak rate and traffic at full bandwidth.
#include "estimate/roofline/roofline.h"

#include <gmock/gmock.h>

#include "read/read.h"

namespace hespas::estimate {
namespace {

// 1,000 additions of f32 that move 12,000 bytes.
constexpr const char* kAdd = R"(
func.func @main(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.add %a, %b : tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
)";

graph::Estimate EstimateAdd(double flops_per_second, double bytes_per_second) {
  Diagnostics diagnostics;
  const auto module = read::ReadText("test.mlir", kAdd, {}, diagnostics);
  hardware::Device device;
  device.peak_flops = {flops_per_second};
  device.memory_bandwidth = {bytes_per_second};
  Notes notes;
  return Roofline(device).EstimateOp(*module, module->block(module->body(module->main())).ops[0], notes);
}

TEST(Roofline, TheLongerOfArithmeticAndTrafficCounts) {
  EXPECT_EQ(EstimateAdd(1e9, 1.2e10).time, Time::Seconds(1e-6));   // both take as long
  EXPECT_EQ(EstimateAdd(1e9, 1.2e11).time, Time::Seconds(1e-6));   // arithmetic alone
  EXPECT_EQ(EstimateAdd(1e10, 1.2e10).time, Time::Seconds(1e-6));  // traffic alone
  EXPECT_EQ(EstimateAdd(1e9, 1.2e9).time, Time::Seconds(1e-5));    // traffic, ten times as long
}

}  // namespace
}  // namespace hespas::estimate
