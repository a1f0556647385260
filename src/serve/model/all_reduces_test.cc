#include "serve/model/all_reduces.h"

#include <gtest/gtest.h>

#include "serve/profile.h"

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
  EXPECT_EQ(vllm.KindOf(4096 * kKib, 2, "NVLink 4"), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(511 * kKib, 4, "NVLink 4"), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(512 * kKib, 4, "NVLink 4"), AllReduce::kTwoShot);
  EXPECT_EQ(vllm.KindOf(255 * kKib, 8, "NVLink 4"), AllReduce::kOneShot);
  EXPECT_EQ(vllm.KindOf(256 * kKib, 8, "NVLink 4"), AllReduce::kTwoShot);
  EXPECT_EQ(vllm.KindOf(8193 * kKib, 8, "NVLink 4"), AllReduce::kLibrary);
  EXPECT_EQ(vllm.KindOf(kKib, 16, "NVLink 4"), AllReduce::kLibrary);
}

// Their sources: `inp_size < self.max_size` of 8 MiB, and sizes are multiples of 16 bytes; TensorRT-LLM's limit is
// one that it still takes.
TEST(AllReduces, EndWhereTheEnginesDo) {
  Diagnostics diagnostics;
  const auto kind = [&](const char* engine, int64_t ranks, double bytes) {
    return LoadEngine(engine, HESPAS_SOURCE_DIR "/data/serving/engines", diagnostics)
        ->all_reduces.KindOf(bytes, ranks, "NVLink 4");
  };
  for (const char* engine : {"vllm", "vllm-0.7", "sglang"}) {
    for (const int64_t ranks : {2, 8}) {
      EXPECT_NE(kind(engine, ranks, 8192 * kKib - 16), AllReduce::kLibrary) << engine;
      EXPECT_EQ(kind(engine, ranks, 8192 * kKib), AllReduce::kLibrary) << engine;
    }
  }
  for (const char* engine : {"trtllm", "trtllm-0.11"}) {
    EXPECT_NE(kind(engine, 8, 8e6), AllReduce::kLibrary) << engine;
    EXPECT_EQ(kind(engine, 8, 8e6 + 16), AllReduce::kLibrary) << engine;
  }
}

// vLLM: all joined by NVLink or XGMI, and `is_cuda_alike`.
TEST(AllReduces, OfMoreThanPairsNeedNvlinkOrXgmi) {
  const AllReduces engine{.own = true, .pairs_on_pcie = true, .largest_of_pair = 8192 * kKib, .largest = 8192 * kKib};
  for (const char* links : {"NVLink 4", "Infinity Fabric"})
    EXPECT_EQ(engine.KindOf(kKib, 8, links), AllReduce::kFastest);
  EXPECT_EQ(engine.KindOf(kKib, 2, "NVLink 3 bridge"), AllReduce::kFastest);
  EXPECT_EQ(engine.KindOf(kKib, 4, "NVLink 3 bridge"), AllReduce::kLibrary);
  for (const char* links :
       {"24 x 200 Gbit/s Ethernet, 21 of them inside the node", "Xe Link", "ICI", "NeuronLink-v3"}) {
    for (const int64_t ranks : {2, 4}) EXPECT_EQ(engine.KindOf(kKib, ranks, links), AllReduce::kLibrary) << links;
  }
}

// vLLM: "not supported on more than two PCIe-only GPUs"; TensorRT-LLM: none.
TEST(AllReduces, OverPcieAreThoseOfPairsAtMost) {
  AllReduces engine{.own = true, .pairs_on_pcie = true, .largest_of_pair = 8192 * kKib, .largest = 8192 * kKib};
  EXPECT_EQ(engine.KindOf(kKib, 2, "PCIe 4.0 x16"), AllReduce::kFastest);
  EXPECT_EQ(engine.KindOf(kKib, 4, "PCIe 4.0 x16"), AllReduce::kLibrary);
  engine.pairs_on_pcie = false;
  EXPECT_EQ(engine.KindOf(kKib, 2, "PCIe 4.0 x16"), AllReduce::kLibrary);
  EXPECT_EQ(AllReduces{}.KindOf(kKib, 2, "NVLink 4"), AllReduce::kLibrary);
}

}  // namespace
}  // namespace hespas::serve
