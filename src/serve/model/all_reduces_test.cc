#include "serve/model/all_reduces.h"

#include <gtest/gtest.h>

namespace hespas::serve {
namespace {

constexpr double kKib = 1024;

// vLLM, csrc/custom_all_reduce.cuh, REDUCE_CASE.
TEST(AllReduces, OfVllmTakeTwoShotsByRanks) {
  const AllReduces vllm{.own = true,
                        .pairs_on_pcie = true,
                        .largest_of_pair = 8192 * kKib,
                        .largest = 8192 * kKib,
                        .two_shot_of_four = 512 * kKib,
                        .two_shot = 256 * kKib};
  EXPECT_EQ(vllm.KindOf(4096 * kKib, 2, true), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(511 * kKib, 4, true), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(512 * kKib, 4, true), AllReduce::kTwoShot);
  EXPECT_EQ(vllm.KindOf(255 * kKib, 8, true), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(256 * kKib, 8, true), AllReduce::kTwoShot);
  EXPECT_EQ(vllm.KindOf(8193 * kKib, 8, true), AllReduce::kLibrary);
  EXPECT_EQ(vllm.KindOf(kKib, 16, true), AllReduce::kLibrary);
}

// vLLM: "not supported on more than two PCIe-only GPUs"; TensorRT-LLM: none.
TEST(AllReduces, OverPcieAreThoseOfPairsAtMost) {
  AllReduces engine{.own = true, .pairs_on_pcie = true, .largest_of_pair = 8192 * kKib, .largest = 8192 * kKib};
  EXPECT_EQ(engine.KindOf(kKib, 2, false), AllReduce::kFastest);
  EXPECT_EQ(engine.KindOf(kKib, 4, false), AllReduce::kLibrary);
  engine.pairs_on_pcie = false;
  EXPECT_EQ(engine.KindOf(kKib, 2, false), AllReduce::kLibrary);
  EXPECT_EQ(AllReduces{}.KindOf(kKib, 2, true), AllReduce::kLibrary);
}

}  // namespace
}  // namespace hespas::serve
