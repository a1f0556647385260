#include "ir/facts/recomputation.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <string>

#include "../read_program.h"
#include "driver/pipeline/run.h"
#include "driver/stages/program/read.h"
#include "optimise/optimise.h"

namespace hespas::ir {
namespace {

using testing::DoubleEq;
using testing::FieldsAre;
using testing::Optional;

struct Counts {
  double all = 0;
  double again = 0;
};

std::optional<Counts> CountsOf(const Module& module) {
  const auto found = RecomputationOf(module, optimise::IsOptimised(module));
  if (!found) return std::nullopt;
  Counts counts;
  for (const ExecutedOp& op : found->all) counts.all += op.times;
  for (const ExecutedOp& op : found->again) counts.again += op.times;
  return counts;
}

std::optional<Counts> CountsOfFile(const std::string& name) {
  Diagnostics diagnostics;
  const auto module = driver::ReadModule(HESPAS_SOURCE_DIR "/tests/data/whole/remat/" + name, nullptr, diagnostics);
  if (!module) ADD_FAILURE() << name;
  return module ? CountsOf(*module) : std::nullopt;
}

auto Are(double all, double again) { return Optional(FieldsAre(DoubleEq(all), DoubleEq(again))); }

// Two matmuls and what `between` makes of the arguments before they are done again.
std::string Twice(const std::string& between, const std::string& x, const std::string& w) {
  return R"(
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    )" + between +
         R"(
    %4 = stablehlo.dot_general )" +
         x + ", " + w + R"(, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.tanh %4 : tensor<64x64xf32>
    return %2, %5 : tensor<64x64xf32>, tensor<64x64xf32>
  })";
}

TEST(Recomputation, IsSeenBehindABarrier) {
  const std::string barrier = "%b:2 = stablehlo.optimization_barrier %x, %w : tensor<64x64xf32>, tensor<64x64xf32>";
  EXPECT_THAT(CountsOf(Read(Twice(barrier, "%b#0", "%b#1"))), Are(3, 1));
}

TEST(Recomputation, IsNotWhatTheCompilerMerges) { EXPECT_THAT(CountsOf(Read(Twice("", "%x", "%w"))), Are(2, 0)); }

TEST(Recomputation, IsNotAMatmulOfOtherValues) { EXPECT_THAT(CountsOf(Read(Twice("", "%w", "%w"))), Are(3, 0)); }

TEST(Recomputation, CannotBeExcludedBehindABarrierWithoutEquals) {
  const std::string barrier = "%b:2 = stablehlo.optimization_barrier %x, %w : tensor<64x64xf32>, tensor<64x64xf32>";
  EXPECT_FALSE(CountsOf(Read(Twice(barrier, "%b#1", "%b#1"))).has_value());
}

// jax.checkpoint of layers with two matmuls each: of three layers one computes its last matmul never again.
TEST(Recomputation, OfLayersIsFoundByNameAndByValue) {
  EXPECT_THAT(CountsOfFile("unrolled.names.mlir"), Are(23, 6));
  EXPECT_THAT(CountsOfFile("unrolled.plain.mlir"), Are(23, 6));
  EXPECT_THAT(CountsOfFile("unrolled.optimised.hlo"), Are(23, 6));
}

// A copy that XLA's rematerialisation pass has made: the same operands, in a compiler's result, with its own name.
TEST(Recomputation, OfACompilersCopyIsFoundByValue) {
  EXPECT_THAT(
      CountsOf(Read(
          R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[64,64]{1,0})->(f32[64,64]{1,0}, f32[64,64]{1,0})}

ENTRY main {
  p = f32[64,64]{1,0} parameter(0)
  dot.1 = f32[64,64]{1,0} dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/jvp()/dot_general"}
  tanh.1 = f32[64,64]{1,0} tanh(dot.1), metadata={op_name="jit(f)/jvp()/tanh"}
  dot.1.remat = f32[64,64]{1,0} dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/jvp()/dot_general"}
  ROOT result = (f32[64,64]{1,0}, f32[64,64]{1,0}) tuple(tanh.1, dot.1.remat)
}
)")),
      Are(2, 1));
}

// The backward loop counts down, and reads what the forward loop has stored.
TEST(Recomputation, OfLoopsIsFoundByNameAndByValue) {
  EXPECT_THAT(CountsOfFile("scan.names.mlir"), Are(24, 6));
  EXPECT_THAT(CountsOfFile("scan.plain.mlir"), Are(24, 6));
  EXPECT_THAT(CountsOfFile("scan.optimised.hlo"), Are(24, 6));
}

TEST(Recomputation, OfLoopsWithoutNamesIsUnknownWhereNoneIsFound) {
  EXPECT_FALSE(CountsOfFile("scan.saved.plain.mlir").has_value());
}

result::RunResult RunFile(const std::string& name) {
  Diagnostics diagnostics;
  const auto result = driver::Run({.program = {.path = HESPAS_SOURCE_DIR "/tests/data/whole/remat/" + name},
                                   .device = {.name = "H100_80GB"},
                                   .network = {.backend = driver::NetworkBackend::kNone}},
                                  diagnostics);
  return result.value_or(result::RunResult());
}

// FLOPs of 24 matmuls of 2 * 32 * 64 * 64 each at H100's TF32 rate, 18 of them the model's.
TEST(Recomputation, OfALoopCountsEveryIteration) {
  const result::RunResult result = RunFile("scan.plain.mlir");
  const double matmul = 2.0 * 32 * 64 * 64 / 494.5e12;
  EXPECT_NEAR(result.hardware_flops_utilisation * result.step_time.seconds() / (24 * matmul), 1, 1e-3);
  EXPECT_NEAR(result.model_flops_utilisation.value_or(0) * result.step_time.seconds() / (18 * matmul), 1, 1e-3);
}

}  // namespace
}  // namespace hespas::ir
