// What sorts and transforms cost in a program that XLA compiled.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../read_program.h"
#include "estimate/cost.h"
#include "estimate/radix_sort.h"

namespace hespas::estimate {
namespace {

ir::OpId FirstOp(const ir::Module& module) { return module.block(module.body(module.main())).ops.front(); }

// Keys with as many values.
ir::Module Sort(const std::string& shape) {
  return Read(fmt::format(R"(
func.func @main(%k: tensor<{0}xi32>, %v: tensor<{0}xf32>) -> (tensor<{0}xi32>, tensor<{0}xf32>) {{
  %0:2 = "stablehlo.sort"(%k, %v) <{{dimension = {1} : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }}) : (tensor<{0}xi32>, tensor<{0}xf32>) -> (tensor<{0}xi32>, tensor<{0}xf32>)
  return %0#0, %0#1 : tensor<{0}xi32>, tensor<{0}xf32>
}})",
                          shape, shape.find('x') == std::string::npos ? 0 : 1));
}

TEST(RadixSorts, ReadKeysAndValuesOnceForEachDigit) {
  const auto one = Sort("1048576");
  const auto sort = RadixSortOf(one, FirstOp(one));
  ASSERT_TRUE(sort);
  EXPECT_EQ(sort->bytes, 1048576 * (4 + 4 * 2 * 8.0));
  EXPECT_EQ(sort->kernels, 2 + 4);
  const auto rows = Sort("256x65536");
  const auto segments = RadixSortOf(rows, FirstOp(rows));
  ASSERT_TRUE(segments);
  EXPECT_EQ(segments->bytes, 256 * 65536 * 6 * (4 + 2 * 8.0));
}

TEST(RadixSorts, LeaveShortRowsToABitonicNetwork) {
  const auto rows = Sort("8x16384");
  EXPECT_FALSE(RadixSortOf(rows, FirstOp(rows)));
  EXPECT_EQ(BitonicKernels(rows, FirstOp(rows)), 1 + 3 * 4 / 2 + 3);
  const auto tile = Sort("8x1024");
  EXPECT_EQ(BitonicKernels(tile, FirstOp(tile)), 1);
}

TEST(Transforms, TakeAPassForEachDimension) {
  const auto module = Read(R"(
func.func @main(%a: tensor<64x1024x1024xcomplex<f32>>) -> tensor<64x1024x1024xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [1024, 1024] : (tensor<64x1024x1024xcomplex<f32>>) -> tensor<64x1024x1024xcomplex<f32>>
  return %0 : tensor<64x1024x1024xcomplex<f32>>
})");
  EXPECT_EQ(CostOf(module, FirstOp(module)).bytes, 2 * 2 * 64 * 1024 * 1024 * 8LL);
}

}  // namespace
}  // namespace hespas::estimate
