// The architecture of a language model: a ready name (data/serving/models.json) or a Hugging Face config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "serve/model/precision.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kUnknownModel{
    "E0714",
    "A model is a ready name (docs/serving.md; a misspelt one lists them) or the path of a Hugging Face config.json.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kUnknownArchitecture{
    "E0715",
    "The config.json is of an architecture whose layers are not known: decoders in the manner of Llama, Mistral, Qwen, "
    "Mixtral, DeepSeek-V3, gpt-oss, Gemma, Falcon, GPT-J, OPT and BLOOM are."};
inline constexpr DiagnosticKind kBadModelConfig{"E0716",
                                                "A config.json lacks a size of the model, or gives an impossible one."};

// Compressed attention of DeepSeek: one latent vector a token in place of keys and values.
struct LatentAttention {
  int64_t query_rank = 0;  // 0: queries are not compressed
  int64_t rank = 0;
  int64_t rope = 0;
  int64_t nope = 0;
  int64_t value = 0;
};

struct Experts {
  int64_t count = 0;
  int64_t active = 0;  // of a token
  int64_t width = 0;
  int64_t shared_width = 0;  // of those that each token passes
  int64_t dense_layers = 0;  // without experts: the first ones, or every other
};

struct Model {
  std::string name;
  int64_t layers = 0;
  int64_t width = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t mlp_width = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;  // longest; 0: not stated
  int64_t window = 0;   // of layers with sliding windows
  int64_t window_layers = 0;
  int64_t head_norm_layers = 0;  // that normalise queries and keys, each head or all together
  bool gated = true;             // the MLP has a gate
  bool one_sum = false;          // attention and MLP share a norm and an all-reduce
  bool tied = false;             // embedding table and head are one
  std::optional<LatentAttention> latent;
  Experts experts;
  std::optional<WeightFormat> weights;  // of the checkpoint

  // Elements.
  double AttentionWeights() const;  // of a layer
  double DenseWeights() const;      // of the MLP of a layer without experts
  double ExpertWeights() const;     // of one expert
  double SharedWeights() const;     // router and shared experts of a layer
  double HeadWeights() const { return static_cast<double>(vocabulary) * static_cast<double>(width); }
  int64_t expert_layers() const { return experts.count > 0 ? layers - experts.dense_layers : 0; }
  double LayerWeights() const;  // of all layers
  double Parameters() const { return LayerWeights() + HeadWeights() * (tied ? 1 : 2); }
  // Elements of the cache a token and layer, of all ranks together.
  double CacheWidth() const;
};

// Aliases are understood: "llama3.1-8b" is "llama3-8b".
std::optional<Model> LoadModel(const std::string& name_or_path, const std::string& table_path,
                               Diagnostics& diagnostics);
std::vector<std::string> ModelNames(const std::string& table_path);

}  // namespace hespas::serve
