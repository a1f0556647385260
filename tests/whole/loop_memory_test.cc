// Peak memory of loops by hand: what an iteration holds, and in which order it runs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../read_program.h"
#include "memory/memory.h"

namespace hespas {
namespace {

constexpr double kSmall = 0.002;  // megabytes of counters, constants, scalars

// Megabytes of a loop that carries %v, one of them, and makes %w of it.
double Temporaries(const std::string& body, bool keep_order) {
  const ir::Module module = Read(fmt::format(R"(
    func.func @main(%x: tensor<262144xf32>) -> tensor<262144xf32> {{
      %i = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.reverse %x, dims = [0] : tensor<262144xf32>
      %r:2 = stablehlo.while(%a = %i, %v = %c) : tensor<i32>, tensor<262144xf32>
      cond {{
        %n = stablehlo.constant dense<8> : tensor<i32>
        %t = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %b = stablehlo.add %a, %one : tensor<i32>
        {}
        stablehlo.return %b, %w : tensor<i32>, tensor<262144xf32>
      }}
      %s = stablehlo.slice %r#1 [0:1] : (tensor<262144xf32>) -> tensor<1xf32>
      %z = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<262144xf32>
      return %z : tensor<262144xf32>
    }})",
                                             body));
  return static_cast<double>(memory::MemoryOf(module, {.keep_order = keep_order}).temporaries.value) / (1 << 20);
}

TEST(LoopMemory, EachStepIsWrittenOverTheLast) {
  // Nothing lies beside what is carried where each step is written over the one before; a step that is not needs a
  // place.
  const double chain = Temporaries(R"(
    %p = stablehlo.negate %v : tensor<262144xf32>
    %q = stablehlo.sine %p : tensor<262144xf32>
    %w = stablehlo.cosine %q : tensor<262144xf32>)",
                                   true);
  const double reversed = Temporaries(R"(
    %p = stablehlo.negate %v : tensor<262144xf32>
    %q = stablehlo.reverse %p, dims = [0] : tensor<262144xf32>
    %w = stablehlo.cosine %q : tensor<262144xf32>)",
                                      true);
  EXPECT_NEAR(chain, 1, kSmall);
  EXPECT_GE(reversed, 2);
}

TEST(LoopMemory, AnUnscheduledBodyIsOrderedForMemory) {
  // Both halves at once hold two vectors of a megabyte; one after the other, one and a number.
  const std::string body = R"(
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<262144xf32>
    %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<262144xf32>
    %g = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<262144xf32>, tensor<f32>) -> tensor<f32>
    %d = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<262144xf32>, tensor<f32>) -> tensor<f32>
    %e = stablehlo.add %g, %d : tensor<f32>
    %f = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> tensor<262144xf32>
    %w = stablehlo.add %v, %f : tensor<262144xf32>)";
  const double ordered = Temporaries(body, false);
  const double as_it_stands = Temporaries(body, true);
  EXPECT_NEAR(as_it_stands - ordered, 1, kSmall);
}

}  // namespace
}  // namespace hespas
