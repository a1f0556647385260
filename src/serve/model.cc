#include "serve/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "base/text/suggest.h"

namespace hespas::serve {
namespace {

using nlohmann::json;

constexpr std::string_view kArchitectures[] = {"llama",       "mistral",   "qwen2",     "qwen3",
                                               "mixtral",     "qwen3_moe", "qwen2_moe", "deepseek_v3",
                                               "deepseek_v2", "gpt_oss",   "gemma3",    "gemma3_text"};

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
  int64_t First(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (config_.contains(key) && !config_[key].is_null()) return Size(key, 0);
    }
    return 0;
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
  model.heads = config.Size("num_attention_heads", std::nullopt);
  model.kv_heads = config.Size("num_key_value_heads", model.heads);
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

void ReadWindows(ConfigReader& config, Model& model) {
  const int64_t window = config.Size("sliding_window", 0);
  if (window == 0 || !config.Flag("use_sliding_window", true)) return;
  int64_t count = 0;
  if (const json* types = config.Part("layer_types"); types && types->is_array()) {
    count = std::count(types->begin(), types->end(), "sliding_attention");
  } else if (const int64_t pattern = config.Size("sliding_window_pattern", 0); pattern > 0) {
    count = model.layers - model.layers / pattern;  // each pattern-th layer attends to everything
  } else {
    count = model.layers;
  }
  model.window = window;
  model.window_layers = count;
}

void ReadExperts(ConfigReader& config, Model& model) {
  Experts& experts = model.experts;
  experts.count = config.First({"num_local_experts", "n_routed_experts", "num_experts"});
  if (experts.count == 0) return;
  experts.active = config.First({"num_experts_per_tok", "experts_per_token"});
  experts.width = config.Size("moe_intermediate_size", model.mlp_width);
  const int64_t shared = config.First({"shared_expert_intermediate_size"});
  experts.shared_width = shared > 0 ? shared : config.Size("n_shared_experts", 0) * experts.width;
  experts.dense_layers = std::min(config.Size("first_k_dense_replace", 0), model.layers);
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
  if (std::find(std::begin(kArchitectures), std::end(kArchitectures), type) == std::end(kArchitectures)) {
    diagnostics.Error(kUnknownArchitecture,
                      type.empty() ? "`model_type` is missing" : fmt::format("`{}` is no known architecture", type),
                      {.file = file}, fmt::format("known: {}", fmt::join(kArchitectures, ", ")));
    return std::nullopt;
  }
  Model model{.name = file, .layers = reader.Size("num_hidden_layers", std::nullopt)};
  model.width = reader.Size("hidden_size", std::nullopt);
  model.mlp_width = reader.Size("intermediate_size", std::nullopt);
  model.vocabulary = reader.Size("vocab_size", 262'208);  // Gemma's configurations leave out the default
  model.context = reader.Size("max_position_embeddings", 0);
  model.tied = reader.Flag("tie_word_embeddings", type.starts_with("gemma"));
  ReadAttention(reader, model);
  ReadWindows(reader, model);
  ReadExperts(reader, model);
  model.weights = FormatOf(ConfigReader(whole, file, diagnostics));
  for (const int64_t size :
       {model.layers, model.width, model.heads, model.kv_heads, model.head_size, model.mlp_width, model.vocabulary}) {
    if (size < 1) return reader.Bad("a size is 0"), std::nullopt;
  }
  return diagnostics.error_count() == before ? std::optional(model) : std::nullopt;
}

// Releases of one architecture share a row: "llama3.1-8b-instruct" is "llama3-8b".
std::string Canonical(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"llama-", "llama"},
                                 {"llama3.1-", "llama3-"},
                                 {"llama3.3-", "llama3-"},
                                 {"deepseek-r1", "deepseek-v3"},
                                 {"qwen2.5-", "qwen2-"},
                                 {"qwen-", "qwen"}}) {
    if (name.starts_with(from)) name = std::string(to) + name.substr(from.size());
  }
  for (const std::string_view suffix : {"-instruct", "-chat", "-it"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

Result<json> ReadJsonFile(const std::string& path) {
  const auto text = ReadInput(path);
  return text ? ParseJson(*text, path) : Result<json>(text.error());
}

}  // namespace

std::optional<WeightFormat> WeightFormatOf(std::string_view name) {
  const std::string_view wanted = name == "fp16" ? "bf16" : name;  // of the same size and rate
  for (size_t i = 0; i < kWeightFormats.size(); ++i) {
    if (kWeightFormats[i].name == wanted) return static_cast<WeightFormat>(i);
  }
  return std::nullopt;
}

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

double Model::DenseWeights() const { return 3 * static_cast<double>(width) * static_cast<double>(mlp_width); }
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
  const bool path = name_or_path.ends_with(".json") || name_or_path.find('/') != std::string::npos;
  const auto found = ReadJsonFile(path ? name_or_path : table_path);
  if (!found) {
    diagnostics.Report(found.error());
    return std::nullopt;
  }
  if (path) return ModelOf(*found, name_or_path, diagnostics);
  const json& models = (*found)["models"];
  const std::string name = Canonical(name_or_path);
  if (!models.contains(name)) {
    const std::vector<std::string> names = ModelNames(table_path);
    std::string help = DidYouMean(name, names);
    if (help.empty()) help = fmt::format("known: {}", fmt::join(names, ", "));
    diagnostics.Error(kUnknownModel, fmt::format("there is no model `{}`", name_or_path), {}, help);
    return std::nullopt;
  }
  auto model = ModelOf(models[name], table_path, diagnostics);
  if (model) model->name = name;
  return model;
}

}  // namespace hespas::serve
