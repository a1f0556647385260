#include "serve/model/model.h"

#include <gtest/gtest.h>

#include <fstream>

#include "serve/model/kernels.h"

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
  // Sizes as their authors print them.
  const std::pair<const char*, double> printed[] = {
      {"llama4-scout", 109e9}, {"llama4-maverick", 400e9}, {"qwen3-coder-480b-a35b", 480e9},
      {"kimi-k2", 1.03e12},    {"glm-4.5", 355e9},         {"minimax-m2", 230e9},
      {"falcon-180b", 180e9},  {"gpt-j-6b", 6.05e9},       {"opt-6.7b", 6.7e9},
      {"bloom-7b1", 7.07e9},   {"decilm-7b", 7.04e9},      {"qwen2-32b", 32.8e9},
      {"qwen3-14b", 14.8e9}};
  for (const auto& [name, parameters] : printed) EXPECT_NEAR(Ready(name).Parameters() / parameters, 1, 0.015) << name;
}

TEST(Model, NamesOfReleasesAreUnderstood) {
  const std::pair<const char*, const char*> names[] = {{"meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b"},
                                                       {"Llama-4-Scout-17B-16E-Instruct", "llama4-scout"},
                                                       {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
                                                       {"DeepSeek-R1-0528", "deepseek-v3"},
                                                       {"Qwen/Qwen2.5-72B-Instruct", "qwen2-72b"},
                                                       {"LLaMA-7B", "llama2-7b"}};
  for (const auto& [given, name] : names) EXPECT_EQ(Ready(given).name, name);
  EXPECT_EQ(Ready("nvidia/Llama-3.3-70B-Instruct-FP8").weights, WeightFormat::kFp8);
  EXPECT_EQ(Ready("deepseek-ai/DeepSeek-R1").weights, WeightFormat::kFp8Block);
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

TEST(Kernels, MatmulsReadAllWeightsOnce) {
  for (const char* name : {"llama3-8b", "qwen3-32b", "gemma3-27b", "falcon-180b", "gpt-j-6b"}) {
    const Model model = Ready(name);
    const StepKernels kernels(model, {}, {});
    double elements = 0;
    for (const StepKernel& kernel : kernels.Layers(1)) elements += kernel.count * kernel.b * kernel.n * kernel.k;
    EXPECT_NEAR(elements / model.LayerWeights(), 1, 1e-9) << name;
  }
}

TEST(Kernels, NormsOfHeadsAreKernelsOfTheirOwn) {
  const auto bytes = [](const char* name, int64_t tensor) {
    double sum = 0;
    for (const StepKernel& kernel : StepKernels(Ready(name), {.tensor = tensor}, {}).Layers(10))
      if (kernel.name == "head-norms") sum += kernel.count * kernel.bytes;
    return sum;
  };
  EXPECT_EQ(bytes("qwen3-32b", 1), 64 * 2 * 2 * 10 * (64 + 8) * 128);  // queries and keys, read and written
  EXPECT_EQ(bytes("qwen3-32b", 8), 64 * 2 * 2 * 10 * (8 + 1) * 128);
  EXPECT_EQ(bytes("llama4-scout", 1), 36 * 2 * 2 * 10 * (40 + 8) * 128);  // of 48 layers, those with rotations
  EXPECT_EQ(bytes("llama4-maverick", 1), 0);
  EXPECT_EQ(bytes("llama3-8b", 1), 0);
}

// A few layers of a family, with what its config.json says besides.
Model Small(const std::string& family, const std::string& more) {
  const std::string path = testing::TempDir() + "/" + family + ".json";
  std::ofstream(path) << R"({"model_type": ")" << family << R"(", "num_hidden_layers": 8, "hidden_size": 512,
    "num_attention_heads": 4, "intermediate_size": 1024, "vocab_size": 1000)"
                      << more << "}";
  Diagnostics diagnostics;
  const auto model = LoadModel(path, "", diagnostics);
  EXPECT_TRUE(model) << family;
  return model.value_or(Model{});
}

TEST(Model, LayersThatNormaliseQueriesAndKeys) {
  EXPECT_EQ(Small("olmo2", "").head_norm_layers, 8);
  EXPECT_EQ(Small("llama", "").head_norm_layers, 0);
  EXPECT_EQ(Small("llama4_text", "").head_norm_layers, 0);
  const std::string norms = R"(, "use_qk_norm": true)";
  EXPECT_EQ(Small("glm4_moe", norms).head_norm_layers, 8);
  EXPECT_EQ(Small("llama4_text", norms + R"(, "no_rope_layers": [])").head_norm_layers, 6);
  EXPECT_EQ(Small("llama4_text", norms + R"(, "no_rope_layer_interval": 2)").head_norm_layers, 4);
  EXPECT_EQ(Small("llama4_text", norms + R"(, "no_rope_layers": [1, 1, 1, 1, 0, 1, 1, 1])").head_norm_layers, 7);
}

TEST(Kernels, RotationsAreTabulatedForAllPositions) {
  EXPECT_EQ(StepKernels(Ready("llama4-scout"), {.tensor = 8}, {}).RotationBytes(4), 10'485'760.0 * 128 * 4);
  EXPECT_EQ(StepKernels(Ready("deepseek-v3"), {}, {}).RotationBytes(2), 163'840.0 * 64 * 2);
}

TEST(Kernels, RanksOfExpertsAloneAreApart) {
  EXPECT_EQ(StepKernels(Ready("qwen3-235b-a22b"), {.expert = 4, .data = 4}, {}).RanksApart(), 4);
  EXPECT_EQ(StepKernels(Ready("llama3-8b"), {.data = 4}, {}).RanksApart(), 1);
}

TEST(Kernels, PromptsBeyondAWindowStillHaveAllTokensBeforeThem) {
  const StepKernels kernels(Ready("gpt-oss-20b"), {}, {});
  const auto calls = kernels.Attention(
      {.prompt_tokens = 8192, .prompt_requests = 1, .prompt_context = 8192, .prompt_pairs = 8192 * 4096.5});
  ASSERT_EQ(calls.size(), 2);
  EXPECT_EQ(calls[0].window, 0);
  EXPECT_EQ(calls[1].window, 128);
  EXPECT_EQ(calls[1].pairs, 8192 * 128);
  EXPECT_EQ(calls[1].before, 4096.5);
}

TEST(Kernels, RanksOfExpertsExchangeChosenRowsOrGatherAll) {
  const auto bytes = [](Precision precision) {
    std::vector<double> out;
    for (const StepKernel& kernel :
         StepKernels(Ready("qwen3-235b-a22b"), {.expert = 4, .data = 4}, precision).Layers(64))
      if (kernel.name == "dispatch" || kernel.name == "combine") out.push_back(kernel.bytes / (64 * 4096));
    return out;
  };
  using Bytes = std::vector<double>;
  EXPECT_EQ(bytes({.weights = WeightFormat::kFp8}), (Bytes{2, 4}));  // two of a token's eight experts on each rank
  EXPECT_EQ(bytes({.weights = WeightFormat::kFp8, .exchange = Exchange::kGatherQuantised}), (Bytes{1, 2}));
  EXPECT_EQ(bytes({.weights = WeightFormat::kFp8Block, .exchange = Exchange::kGatherQuantised}), (Bytes{2, 2}));
  EXPECT_EQ(bytes({.weights = WeightFormat::kFp8, .exchange = Exchange::kGatherQuantised, .quantises_apart = true}),
            (Bytes{1, 2}));
  EXPECT_EQ(bytes({.weights = WeightFormat::kFp8, .exchange = Exchange::kGather}), (Bytes{2, 2}));
}

TEST(Kernels, ExpertsKnowHowTokensOfAllRanksReachThem) {
  const auto check = [](const char* name, double exponent) {
    int routed = 0;
    for (const StepKernel& kernel : StepKernels(Ready(name), {.expert = 4, .data = 4}, {}).Layers(64)) {
      if (!kernel.routing) continue;
      ++routed;
      EXPECT_TRUE(kernel.quantised) << kernel.name;
      EXPECT_EQ(kernel.routing->tokens, 64);
      EXPECT_EQ(kernel.routing->chosen, 8);
      EXPECT_EQ(kernel.routing->ranks, 4);
      EXPECT_EQ(kernel.routing->exponent, exponent);
    }
    EXPECT_EQ(routed, 3) << name;  // two matmuls, and what stands beside them
  };
  check("qwen3-235b-a22b", 1.2);
  check("deepseek-v3", 1.01);
}

TEST(Kernels, PromptsAreIn8BitsWhereWeightsAndCacheAreNarrow) {
  const auto in_8_bits = [](const char* name, Precision precision) {
    const StepShape step{.prompt_tokens = 100, .prompt_requests = 1, .prompt_context = 100, .prompt_pairs = 5050};
    return StepKernels(Ready(name), {}, precision).Attention(step).front().f8;
  };
  Precision precision{.weights = WeightFormat::kNvfp4, .cache = CacheFormat::kFp8, .fp8_prompts = true};
  EXPECT_TRUE(in_8_bits("llama3-70b", precision));
  EXPECT_FALSE(in_8_bits("deepseek-v3", precision));
  precision.fp8_prompts = false;
  EXPECT_FALSE(in_8_bits("llama3-70b", precision));
  precision = {.weights = WeightFormat::kBf16, .cache = CacheFormat::kFp8, .fp8_prompts = true};
  EXPECT_FALSE(in_8_bits("llama3-70b", precision));
  precision = {.weights = WeightFormat::kFp8, .cache = CacheFormat::kBf16, .fp8_prompts = true};
  EXPECT_FALSE(in_8_bits("llama3-70b", precision));
}

TEST(Kernels, MixedStepsShareMatmulsAndNotAttention) {
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
