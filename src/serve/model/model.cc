#include "serve/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "base/text/lower.h"
#include "base/text/suggest.h"

namespace hespas::serve {
namespace {

using nlohmann::json;

// Decoders whose config.json is read; traits that it does not state.
struct Architecture {
  std::string_view name;
  bool gated = true;        // the MLP multiplies by a gate: three matrices, else two
  bool one_sum = false;     // attention and MLP read the same norm, and one all-reduce sums both
  bool tied = false;        // where the configuration does not say
  int64_t pattern = 0;      // layers with a window, and one without; where the configuration does not say
  int64_t shared = 0;       // experts that each token passes, likewise
  bool head_norms = false;  // of queries and keys, likewise
  int64_t unrotated = 0;    // one of so many layers has neither rotary embeddings nor such norms, likewise
};
constexpr Architecture kArchitectures[] = {{.name = "llama"},
                                           {.name = "llama4", .pattern = 4, .shared = 1, .unrotated = 4},
                                           {.name = "llama4_text", .pattern = 4, .shared = 1, .unrotated = 4},
                                           {.name = "mistral"},
                                           {.name = "mixtral"},
                                           {.name = "qwen2"},
                                           {.name = "qwen2_moe"},
                                           {.name = "qwen3", .head_norms = true},
                                           {.name = "qwen3_moe", .head_norms = true},
                                           {.name = "deepseek_v2"},
                                           {.name = "deepseek_v3"},
                                           {.name = "kimi_k2"},
                                           {.name = "glm4_moe"},
                                           {.name = "minimax_m2", .head_norms = true},
                                           {.name = "gpt_oss"},
                                           {.name = "gemma2", .tied = true, .pattern = 2},
                                           {.name = "gemma3", .tied = true, .pattern = 6, .head_norms = true},
                                           {.name = "gemma3_text", .tied = true, .pattern = 6, .head_norms = true},
                                           {.name = "phi3"},
                                           {.name = "olmo2", .head_norms = true},
                                           {.name = "granite"},
                                           {.name = "deci"},
                                           {.name = "aquila"},
                                           {.name = "falcon", .gated = false, .one_sum = true, .tied = true},
                                           {.name = "gptj", .gated = false, .one_sum = true},
                                           {.name = "gpt_neox", .gated = false, .one_sum = true},
                                           {.name = "opt", .gated = false, .tied = true},
                                           {.name = "bloom", .gated = false, .tied = true}};

// Sizes of a config.json; each defect is reported.
class ConfigReader {
 public:
  ConfigReader(const json& config, std::string file, Diagnostics& diagnostics)
      : config_(config), file_(std::move(file)), diagnostics_(diagnostics) {}

  int64_t Size(const char* key, std::optional<int64_t> otherwise) {
    const auto at = config_.find(key);
    if (at == config_.end() || at->is_null()) {
      if (!otherwise) Bad(fmt::format("`{}` is missing", key));
      return otherwise.value_or(1);
    }
    constexpr int64_t kMost = 100'000'000;
    if (at->is_number_integer() && at->get<int64_t>() >= 0 && at->get<int64_t>() <= kMost) return at->get<int64_t>();
    Bad(fmt::format("`{}`: {} is no size", key, at->dump()));
    return 1;
  }
  // Of the first key that is there: families name the same size differently.
  int64_t First(std::initializer_list<const char*> keys, std::optional<int64_t> otherwise = 0) {
    for (const char* key : keys) {
      if (config_.contains(key) && !config_[key].is_null()) return Size(key, 0);
    }
    if (!otherwise) Bad(fmt::format("`{}` is missing", *keys.begin()));
    return otherwise.value_or(1);
  }
  bool Flag(const char* key, bool otherwise) const {
    const auto at = config_.find(key);
    return at == config_.end() || !at->is_boolean() ? otherwise : at->get<bool>();
  }
  std::string Word(const char* key) const {
    const auto at = config_.find(key);
    return at == config_.end() || !at->is_string() ? "" : at->get<std::string>();
  }
  const json* Part(const char* key) const {
    const auto at = config_.find(key);
    return at == config_.end() || at->is_null() ? nullptr : &*at;
  }
  void Bad(std::string message) {
    diagnostics_.Error(kBadModelConfig, std::move(message), {.file = file_}, "take the file as Hugging Face has it");
  }

 private:
  const json& config_;
  std::string file_;
  Diagnostics& diagnostics_;
};

void ReadAttention(ConfigReader& config, Model& model) {
  model.heads = config.First({"num_attention_heads", "n_head"}, std::nullopt);
  const bool one_head = config.Flag("multi_query", false) && !config.Flag("new_decoder_architecture", false);
  model.kv_heads = config.First({"num_key_value_heads", "num_kv_heads"}, one_head ? 1 : model.heads);
  const int64_t even = model.heads > 0 ? model.width / std::max<int64_t>(model.heads, 1) : 0;
  model.head_size = config.Size("head_dim", even);
  if (const int64_t rank = config.Size("kv_lora_rank", 0); rank > 0) {
    model.latent = {.query_rank = config.Size("q_lora_rank", 0),
                    .rank = rank,
                    .rope = config.Size("qk_rope_head_dim", std::nullopt),
                    .nope = config.Size("qk_nope_head_dim", std::nullopt),
                    .value = config.Size("v_head_dim", std::nullopt)};
  }
}

// Llama 4 normalises queries and keys where it rotates them (TensorRT-LLM, _torch/models/modeling_llama.py,
// is_nope_layer: `no_rope_layers` has 0 for layers without rotary embeddings).
void ReadHeadNorms(ConfigReader& config, const Architecture& known, Model& model) {
  if (!config.Flag("use_qk_norm", known.head_norms)) return;
  model.head_norm_layers = model.layers;
  if (known.unrotated == 0) return;
  const json* rotated = config.Part("no_rope_layers");
  if (rotated && rotated->is_array() && !rotated->empty()) {
    model.head_norm_layers -= std::count(rotated->begin(), rotated->end(), 0);
  } else if (const int64_t every = config.Size("no_rope_layer_interval", known.unrotated); every > 0) {
    model.head_norm_layers -= model.layers / every;
  }
}

void ReadWindows(ConfigReader& config, const Architecture& known, Model& model) {
  // Llama 4 attends within chunks, but for layers without rotary embeddings.
  const int64_t window = config.First({"sliding_window", "attention_chunk_size"});
  if (window == 0 || !config.Flag("use_sliding_window", true)) return;
  int64_t count = 0;
  if (const json* types = config.Part("layer_types"); types && types->is_array()) {
    count = std::max<int64_t>(0, model.layers - std::count(types->begin(), types->end(), "full_attention"));
  } else if (const int64_t pattern = config.Size("sliding_window_pattern", known.pattern); pattern > 0) {
    count = model.layers - model.layers / pattern;  // each pattern-th layer attends to everything
  } else {
    count = model.layers;
  }
  model.window = window;
  model.window_layers = count;
}

void ReadExperts(ConfigReader& config, const Architecture& known, Model& model) {
  Experts& experts = model.experts;
  experts.count = config.First({"num_local_experts", "n_routed_experts", "num_experts"});
  if (experts.count == 0) return;
  experts.active = config.First({"num_experts_per_tok", "experts_per_token"});
  experts.width = config.First({"moe_intermediate_size", "intermediate_size"}, model.mlp_width);
  const int64_t shared = config.First({"shared_expert_intermediate_size"});
  experts.shared_width = shared > 0 ? shared : config.Size("n_shared_experts", known.shared) * experts.width;
  experts.dense_layers = std::min(config.Size("first_k_dense_replace", 0), model.layers);
  const int64_t every = config.Size("interleave_moe_layer_step", 1);
  if (every > 1) experts.dense_layers = model.layers - model.layers / every;
  if (experts.active < 1 || experts.active > experts.count) config.Bad("the experts of a token are not stated");
}

// quantization_config of compressed-tensors, fp8, modelopt, AWQ, GPTQ and mxfp4.
std::optional<WeightFormat> FormatOf(const ConfigReader& config) {
  const json* part = config.Part("quantization_config");
  if (!part || !part->is_object()) return std::nullopt;
  const std::string all = part->dump();
  const auto says = [&](std::string_view word) { return all.find(word) != std::string::npos; };
  if (says("NVFP4") || says("nvfp4")) return WeightFormat::kNvfp4;
  if (says("mxfp4")) return WeightFormat::kMxfp4;
  if (says("weight_block_size")) return WeightFormat::kFp8Block;
  if (says("fp8") || says("FP8") || says("\"type\":\"float\"")) return WeightFormat::kFp8;
  if (says("awq") || says("gptq") || says("\"bits\":4") || says("\"num_bits\":4")) return WeightFormat::kInt4;
  if (says("\"num_bits\":8") || says("\"bits\":8")) return WeightFormat::kInt8;
  return std::nullopt;
}

const Architecture* FindArchitecture(std::string_view name) {
  const auto* at = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                [&](const Architecture& each) { return each.name == name; });
  return at == std::end(kArchitectures) ? nullptr : at;
}

std::string ArchitectureNames() {
  std::vector<std::string_view> names;
  for (const Architecture& each : kArchitectures) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void ReadMlp(ConfigReader& config, Model& model) {
  constexpr int64_t kUsual = 4;  // times the width, of those without gates that leave it out
  // Of families whose experts are `intermediate_size` wide, the other layers have a width of their own.
  model.mlp_width = config.First({"intermediate_size_mlp"});
  if (model.mlp_width > 0) return;
  model.mlp_width = config.First({"intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"},
                                 model.gated ? std::nullopt : std::optional(kUsual * model.width));
}

std::optional<Model> ModelOf(const json& whole, const std::string& file, Diagnostics& diagnostics) {
  const bool nested = whole.is_object() && whole.contains("text_config") && whole["text_config"].is_object();
  const json& config = nested ? whole["text_config"] : whole;
  if (!config.is_object()) {
    diagnostics.Error(kBadModelConfig, "the file holds no object", {.file = file}, "take a model's config.json");
    return std::nullopt;
  }
  const size_t before = diagnostics.error_count();
  ConfigReader reader(config, file, diagnostics);
  const std::string type = reader.Word("model_type");
  const Architecture* const known = FindArchitecture(type);
  if (!known) {
    diagnostics.Error(kUnknownArchitecture,
                      type.empty() ? "`model_type` is missing" : fmt::format("`{}` is no known architecture", type),
                      {.file = file}, "known: " + ArchitectureNames());
    return std::nullopt;
  }
  Model model{.name = file,
              .layers = reader.First({"num_hidden_layers", "n_layer", "num_layers"}, std::nullopt),
              .gated = known->gated,
              .one_sum = known->one_sum};
  model.width = reader.First({"hidden_size", "n_embd", "n_embed"}, std::nullopt);
  ReadMlp(reader, model);
  model.vocabulary = reader.Size("vocab_size", 262'208);  // Gemma's configurations leave out the default
  model.context = reader.First({"max_position_embeddings", "n_positions", "seq_length"});
  model.tied = reader.Flag("tie_word_embeddings", known->tied);
  ReadAttention(reader, model);
  ReadHeadNorms(reader, *known, model);
  ReadWindows(reader, *known, model);
  ReadExperts(reader, *known, model);
  model.weights = FormatOf(ConfigReader(whole, file, diagnostics));
  for (const int64_t size :
       {model.layers, model.width, model.heads, model.kv_heads, model.head_size, model.mlp_width, model.vocabulary}) {
    if (size < 1) return reader.Bad("a size is 0"), std::nullopt;
  }
  return diagnostics.error_count() == before ? std::optional(model) : std::nullopt;
}

// What a name says of the checkpoint's format: "Llama-3.3-70B-Instruct-FP8".
struct NameSuffix {
  std::string_view text;
  std::optional<WeightFormat> weights;
};
constexpr NameSuffix kSuffixes[] = {{"-instruct", {}},
                                    {"-chat", {}},
                                    {"-it", {}},
                                    {"-hf", {}},
                                    {"-base", {}},
                                    {"-kv", {}},
                                    {"-v0.1", {}},
                                    {"-v0.2", {}},
                                    {"-v0.3", {}},
                                    {"-0324", {}},
                                    {"-0528", {}},
                                    {"-2507", {}},
                                    {"-17b-16e", {}},
                                    {"-17b-128e", {}},
                                    {"-fp8", WeightFormat::kFp8},
                                    {"-fp4", WeightFormat::kNvfp4},
                                    {"-nvfp4", WeightFormat::kNvfp4},
                                    {"-mxfp4", WeightFormat::kMxfp4},
                                    {"-awq", WeightFormat::kInt4},
                                    {"-gptq", WeightFormat::kInt4}};

struct ReleaseName {
  std::string name;
  std::optional<WeightFormat> weights;
};

// Releases of one architecture share a row: "meta-llama/Llama-3.1-8B-Instruct" is "llama3-8b".
ReleaseName Canonical(const std::string& given) {
  ReleaseName release{.name = Lower(given.substr(given.rfind('/') + 1)), .weights = std::nullopt};
  std::string& name = release.name;
  for (bool found = true; found;) {
    found = false;
    for (const NameSuffix& suffix : kSuffixes) {
      if (!name.ends_with(suffix.text)) continue;
      name.resize(name.size() - suffix.text.size());
      if (suffix.weights) release.weights = suffix.weights;
      found = true;
    }
  }
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"meta-", ""},
                                 {"llama-4", "llama4"},
                                 {"llama-3", "llama3"},
                                 {"llama-2", "llama2"},
                                 {"llama3.1-", "llama3-"},
                                 {"llama3.3-", "llama3-"},
                                 {"llama-7b", "llama2-7b"},  // the first Llama's sizes
                                 {"llama-13b", "llama2-13b"},
                                 {"llama-70b", "llama2-70b"},
                                 {"deepseek-r1", "deepseek-v3"},
                                 {"qwen2.5-", "qwen2-"},
                                 {"qwen-", "qwen"}}) {
    if (name.starts_with(from)) name = std::string(to) + name.substr(from.size());
  }
  return release;
}

Result<json> ReadJsonFile(const std::string& path) {
  const auto text = ReadInput(path);
  return text ? ParseJson(*text, path) : Result<json>(text.error());
}

}  // namespace

namespace {

template <class Format, class Table>
std::optional<Format> FormatIn(const Table& formats, std::string_view name) {
  const std::string_view wanted = name == "fp16" ? "bf16" : name;  // of the same size and rate
  for (size_t i = 0; i < formats.size(); ++i) {
    if (formats[i].name == wanted) return static_cast<Format>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<WeightFormat> WeightFormatOf(std::string_view name) {
  return FormatIn<WeightFormat>(kWeightFormats, name);
}

std::optional<CacheFormat> CacheFormatOf(std::string_view name) { return FormatIn<CacheFormat>(kCacheFormats, name); }

double Model::AttentionWeights() const {
  const auto h = static_cast<double>(width);
  const auto q = static_cast<double>(heads);
  if (!latent) {
    const auto d = static_cast<double>(head_size);
    return h * d * (2 * q + 2 * static_cast<double>(kv_heads));
  }
  const auto rank = static_cast<double>(latent->rank);
  const auto query_rank = static_cast<double>(latent->query_rank);
  const auto head = static_cast<double>(latent->nope + latent->rope);
  const auto value = static_cast<double>(latent->value);
  const double queries = query_rank > 0 ? h * query_rank + query_rank * q * head : h * q * head;
  const double keys = h * (rank + static_cast<double>(latent->rope));
  return queries + keys + rank * q * (static_cast<double>(latent->nope) + value) + q * value * h;
}

double Model::DenseWeights() const {
  return (gated ? 3 : 2) * static_cast<double>(width) * static_cast<double>(mlp_width);
}
double Model::ExpertWeights() const { return 3 * static_cast<double>(width) * static_cast<double>(experts.width); }
double Model::SharedWeights() const {
  return static_cast<double>(width) *
         (3 * static_cast<double>(experts.shared_width) + static_cast<double>(experts.count));
}

double Model::LayerWeights() const {
  const auto with_experts = static_cast<double>(expert_layers());
  const double expert_layer = SharedWeights() + static_cast<double>(experts.count) * ExpertWeights();
  const auto all = static_cast<double>(layers);
  return all * AttentionWeights() + (all - with_experts) * DenseWeights() + with_experts * expert_layer;
}

double Model::CacheWidth() const {
  if (latent) return static_cast<double>(latent->rank + latent->rope);
  return 2 * static_cast<double>(kv_heads) * static_cast<double>(head_size);
}

std::vector<std::string> ModelNames(const std::string& table_path) {
  std::vector<std::string> names;
  const auto table = ReadJsonFile(table_path);
  if (!table || !table->contains("models")) return names;
  for (const auto& [name, config] : (*table)["models"].items()) names.push_back(name);
  return names;
}

std::optional<Model> LoadModel(const std::string& name_or_path, const std::string& table_path,
                               Diagnostics& diagnostics) {
  std::error_code unused;  // "no file" is an answer, whatever the name is
  const bool path = name_or_path.ends_with(".json") || std::filesystem::is_regular_file(name_or_path, unused);
  const auto found = ReadJsonFile(path ? name_or_path : table_path);
  if (!found) {
    diagnostics.Report(found.error());
    return std::nullopt;
  }
  if (path) return ModelOf(*found, name_or_path, diagnostics);
  const json& models = (*found)["models"];
  const auto [name, weights] = Canonical(name_or_path);
  if (!models.contains(name)) {
    const std::vector<std::string> names = ModelNames(table_path);
    std::string help = DidYouMean(name, names);
    if (help.empty()) help = fmt::format("known: {}", fmt::join(names, ", "));
    diagnostics.Error(kUnknownModel, fmt::format("there is no model `{}`", name_or_path), {}, help);
    return std::nullopt;
  }
  auto model = ModelOf(models[name], table_path, diagnostics);
  if (model) model->name = name;
  if (model && weights) model->weights = weights;
  return model;
}

}  // namespace hespas::serve
