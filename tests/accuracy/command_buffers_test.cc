// Which kernels of a program XLA launches as CUDA graphs, and what the launches of the others take.
#include "estimate/calibrated/command_buffers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../read_program.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/calibrated/machine.h"
#include "hardware/presets.h"

namespace hespas::estimate::calibrated {
namespace {

std::string Kernels(int count, const std::string& from, const std::string& names) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string operand = i == 0 ? from : fmt::format("%{}{}", names, i - 1);
    text += fmt::format("  %{}{} = stablehlo.sine {} : tensor<64xf32>\n", names, i, operand);
  }
  return text;
}

ir::Module ProgramOf(const std::string& body, const std::string& result) {
  return Read(fmt::format(
      "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {{\n{}  return {} : tensor<64xf32>\n}}", body, result));
}

CommandBuffers Of(const std::string& body, const std::string& result) {
  return CommandBuffersOf(ProgramOf(body, result));
}

constexpr const char* kAllReduce = R"(
  %sum = "stablehlo.all_reduce"(%a3) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64xf32>) -> tensor<64xf32>
)";

// Ten iterations of so many kernels and the counter's.
std::string Loop(int kernels) {
  return fmt::format(R"(
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
  cond {{
    %t = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }} do {{
{}    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %b{} : tensor<i32>, tensor<64xf32>
  }}
)",
                     Kernels(kernels, "%v", "b"), kernels - 1);
}

TEST(CommandBuffers, HoldFiveKernelsOrMore) {
  EXPECT_EQ(Of(Kernels(5, "%x", "a"), "%a4").in_graph, 1);
  EXPECT_EQ(Of(Kernels(4, "%x", "a"), "%a3").in_graph, 0);
}

TEST(CommandBuffers, EndAtCollectives) {
  EXPECT_EQ(Of(Kernels(4, "%x", "a") + kAllReduce + Kernels(4, "%sum", "c"), "%c3").in_graph, 0);
  EXPECT_EQ(Of(Kernels(4, "%x", "a") + kAllReduce + Kernels(12, "%sum", "c"), "%c11").in_graph, 0.75);
}

TEST(CommandBuffers, HoldBodiesOfLoopsByTheirOwnLength) {
  EXPECT_EQ(Of(Loop(3), "%r#1").in_graph, 0);
  EXPECT_EQ(Of(Loop(4), "%r#1").in_graph, 1);
  // 40 launches in the loop, as many behind it.
  EXPECT_EQ(Of(Loop(3) + Kernels(40, "%r#1", "d"), "%d39").in_graph, 0.5);
}

TEST(CommandBuffers, MakeLaunchesShorterOnGpusOfNvidia) {
  Diagnostics diagnostics;
  const auto stream = [&](const char* name) {
    return ForDevice(*DefaultParameters(), *hardware::LoadDevice(name, diagnostics)).stream;
  };
  const StreamConstants hopper = stream("H100_80GB");
  EXPECT_EQ(BetweenUs(hopper, {}), hopper.launch_us);
  EXPECT_NEAR(BetweenUs(hopper, {.in_graph = 1}), 1.35, 0.01);
  for (const char* name : {"MI300X", "TPUv4"}) {
    const StreamConstants other = stream(name);
    EXPECT_EQ(BetweenUs(other, {.in_graph = 0.5}), other.launch_us) << name;
  }
}

// In us, by the estimates of all ops of main.
double TimeOf(const ir::Module& module) {
  Diagnostics diagnostics;
  const Calibrated model(*hardware::LoadDevice("H100_80GB", diagnostics), *DefaultParameters(), nullptr,
                         CommandBuffersOf(module));
  Notes notes;
  double us = 0;
  for (const ir::OpId op : module.block(module.body(module.main())).ops)
    us += model.EstimateOp(module, op, notes).time.seconds() * 1e6;
  return us;
}

TEST(CommandBuffers, StayAsShortBesideAShortLoop) {
  const double kernels = TimeOf(ProgramOf(Kernels(200, "%x", "d"), "%d199"));
  const double loop = TimeOf(ProgramOf(Loop(1), "%r#1"));
  const double both = TimeOf(ProgramOf(Loop(1) + Kernels(200, "%r#1", "d"), "%d199"));
  EXPECT_NEAR(both - loop, kernels, 0.01 * kernels);
  EXPECT_LT(kernels, 300);
}

// What if launches took half as long?
TEST(CommandBuffers, FollowADevicesOwnLaunch) {
  Diagnostics diagnostics;
  auto device = *hardware::LoadDevice("H100_80GB", diagnostics);
  const double graph_us = ForDevice(*DefaultParameters(), device).stream.graph_us;
  device.calibration["stream.launch_us"] = ForDevice(*DefaultParameters(), device).stream.launch_us / 2;
  EXPECT_DOUBLE_EQ(ForDevice(*DefaultParameters(), device).stream.graph_us, graph_us / 2);
}

}  // namespace
}  // namespace hespas::estimate::calibrated
