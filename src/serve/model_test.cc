#include "serve/model.h"

#include <gtest/gtest.h>

#include "serve/kernels.h"

namespace hespas::serve {
namespace {

Model Ready(const std::string& name) {
  Diagnostics diagnostics;
  const auto model = LoadModel(name, HESPAS_SOURCE_DIR "/data/serving/models.json", diagnostics);
  EXPECT_TRUE(model) << name;
  return model.value_or(Model{});
}

TEST(Model, WeightsAreThoseOfTheCheckpoints) {
  // A decode step reads all layers and the head, not the embedding table.
  const Model small = Ready("llama3.1-8b");
  EXPECT_NEAR(small.LayerWeights() + small.HeadWeights(), 7.505e9, 1e6);
  EXPECT_NEAR(small.Parameters(), 8.03e9, 1e7);
  const Model large = Ready("Llama-3.3-70B-Instruct");
  EXPECT_NEAR(large.LayerWeights() + large.HeadWeights(), 69.5e9, 1e8);
  EXPECT_NEAR(Ready("deepseek-v3").Parameters(), 671e9, 2e9);
  EXPECT_NEAR(Ready("mixtral-8x7b").Parameters(), 46.7e9, 2e8);
  EXPECT_NEAR(Ready("qwen3-30b-a3b").Parameters(), 30.5e9, 2e8);
  EXPECT_NEAR(Ready("gpt-oss-120b").Parameters(), 117e9, 2e9);
}

TEST(Model, CachesHaveTheirWidth) {
  const auto bytes = [](const char* name, int64_t tensor) {
    return StepKernels(Ready(name), {.tensor = tensor}, {}).CacheBytesPerToken();
  };
  EXPECT_EQ(bytes("llama3-8b", 1), 131'072);
  EXPECT_EQ(bytes("llama3-70b", 1), 327'680);
  EXPECT_EQ(bytes("llama3-70b", 16), 327'680 / 8.0);  // heads are replicated beyond 8 ranks
  EXPECT_EQ(bytes("deepseek-v3", 8), 61 * 576 * 2.0);
}

TEST(Model, ReadyModelsAllLoad) {
  const std::vector<std::string> names = ModelNames(HESPAS_SOURCE_DIR "/data/serving/models.json");
  EXPECT_GE(names.size(), 20);
  for (const std::string& name : names) EXPECT_GT(Ready(name).Parameters(), 1e9) << name;
}

TEST(Kernels, ProductsReadAllWeightsOnce) {
  for (const char* name : {"llama3-8b", "qwen3-32b", "gemma3-27b"}) {
    const Model model = Ready(name);
    const StepKernels kernels(model, {}, {});
    double elements = 0;
    for (const StepKernel& kernel : kernels.Layers(1)) elements += kernel.count * kernel.b * kernel.n * kernel.k;
    EXPECT_NEAR(elements / model.LayerWeights(), 1, 1e-9) << name;
  }
}

TEST(Kernels, MixedStepsShareProductsAndNotAttention) {
  const StepKernels kernels(Ready("llama3-8b"), {}, {});
  const auto calls = kernels.Attention({.decode_requests = 4,
                                        .decode_rows = 4,
                                        .decode_context = 4000,
                                        .prompt_tokens = 100,
                                        .prompt_requests = 1,
                                        .prompt_context = 100,
                                        .prompt_pairs = 5050});
  ASSERT_EQ(calls.size(), 2);
  EXPECT_TRUE(calls[0].decode);
  EXPECT_EQ(calls[0].context, 4000);
  EXPECT_EQ(calls[1].pairs, 5050);
}

}  // namespace
}  // namespace hespas::serve
