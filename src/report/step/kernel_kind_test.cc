#include "report/step/kernel_kind.h"

#include <gtest/gtest.h>

namespace hespas::report {
namespace {

TEST(KernelKind, NamesOfLibrariesAndCompilersTell) {
  EXPECT_EQ(KindOfKernel("ampere_sgemm_128x64_nn", ""), "matmul");
  EXPECT_EQ(KindOfKernel("Cijk_Ailk_Bljk_BBS_BH_MT128x128", ""), "matmul");
  EXPECT_EQ(KindOfKernel("dot_general.8", ""), "matmul");
  EXPECT_EQ(KindOfKernel("sm80_xmma_fprop_implicit_gemm_bf16", ""), "convolution");
  EXPECT_EQ(KindOfKernel("void pytorch_flash::flash_fwd_kernel<Traits>", ""), "attention");
  EXPECT_EQ(KindOfKernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", ""), "reduce_scatter");
  EXPECT_EQ(KindOfKernel("ncclDevKernel_Broadcast_RING_LL", ""), "broadcast");
  EXPECT_EQ(KindOfKernel("all-gather-start.3", ""), "all_gather");
  EXPECT_EQ(KindOfKernel("input_reduce_fusion", ""), "reduction");
  EXPECT_EQ(KindOfKernel("void at::native::distribution_elementwise_grid_stride_kernel", ""), "random numbers");
  EXPECT_EQ(KindOfKernel("Memcpy DtoD (Device -> Device)", ""), "data movement");
}

TEST(KernelKind, ConversionsAndBroadcastsAreElementwise) {
  EXPECT_EQ(KindOfKernel("loop_convert_fusion.2", ""), "elementwise");
  EXPECT_EQ(KindOfKernel("loop_broadcast_fusion", ""), "elementwise");
  EXPECT_EQ(KindOfKernel("void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>", ""),
            "elementwise");
}

TEST(KernelKind, TheFrameworkNameComesFirstAndOnlyItsLastPart) {
  EXPECT_EQ(KindOfKernel("fusion.3", "jit(step)/mlp/dot_general"), "matmul");
  EXPECT_EQ(KindOfKernel("gemm_fusion", "jit(step)/transpose(jvp())/mul"), "matmul");
  EXPECT_EQ(KindOfKernel("loop_multiply_fusion", "jit(step)/transpose(jvp())/mul"), "elementwise");
  EXPECT_EQ(KindOfKernel("all-reduce.1", "jit(step)/psum"), "all_reduce");
}

}  // namespace
}  // namespace hespas::report
