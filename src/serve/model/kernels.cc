#include "serve/model/kernels.h"

#include <algorithm>
#include <cmath>

namespace hespas::serve {
namespace {

constexpr double kActivation = 2;  // bytes between kernels

// Of the power law of experts' loads: AIConfigurator, sdk/models.py (DeepSeek's models and those that are built alike).
constexpr double kExponent = 1.2, kDeepSeekExponent = 1.01;

StepKernel Traffic(std::string_view name, double count, double bytes) {
  return {.name = name, .kind = KernelKind::kTraffic, .count = count, .bytes = bytes};
}

StepKernel Collective(std::string_view name, KernelKind kind, double count, double bytes, int64_t ranks) {
  return {.name = name, .kind = kind, .count = count, .bytes = bytes, .ranks = ranks};
}

// Experts that n tokens touch, of which each chooses `active` (uniform routing).
double Touched(const Experts& experts, double tokens) {
  const auto count = static_cast<double>(experts.count);
  const double miss = 1 - static_cast<double>(experts.active) / count;
  return count * (1 - std::pow(miss, tokens));
}

}  // namespace

// Heads are replicated where there are more ranks than heads.
double StepKernels::KvHeadsOfRank() const {
  return std::max(1.0, static_cast<double>(model_.kv_heads) / static_cast<double>(parallelism_.tensor));
}

double StepKernels::RanksApart() const { return model_.experts.count > 0 ? static_cast<double>(parallelism_.data) : 1; }

double StepKernels::LocalRows(double rows) const {
  const double apart = RanksApart();
  return apart > 1 ? std::ceil(rows / apart) : rows;
}

// An output in 8 bits, which the projection after it multiplies, takes a kernel that multiplies in 8 bits, too
// (TensorRT-LLM, _torch/modules/attention.py, create_output, and thop/attentionOp.cpp, mFP8ContextFMHA).
bool StepKernels::PromptsIn8Bits() const {
  const WeightFormatFacts& facts = FactsOf(precision_.weights);
  const bool cached = precision_.cache == CacheFormat::kFp8 || precision_.cache == CacheFormat::kNvfp4;
  const bool floats = facts.activations == "fp8" || facts.activations == "nvfp4";
  return precision_.fp8_prompts && cached && floats && !model_.latent;
}

void StepKernels::Matmul(std::vector<StepKernel>& out, std::string_view name, double count, double m, double n,
                         double k) const {
  const WeightFormatFacts& facts = FactsOf(precision_.weights);
  const bool quantised = !facts.experts_only;
  if (quantised && (facts.quantises || (precision_.quantises_apart && facts.activation_bytes < kActivation)))
    out.push_back(Traffic("quantise", count, m * k * (kActivation + facts.activation_bytes)));
  out.push_back(
      {.name = name, .kind = KernelKind::kMatmul, .count = count, .m = m, .n = n, .k = k, .quantised = quantised});
}

void StepKernels::AttentionMatmuls(std::vector<StepKernel>& out, double rows) const {
  const auto layers = static_cast<double>(model_.layers);
  const auto h = static_cast<double>(model_.width);
  const double heads = static_cast<double>(model_.heads) / static_cast<double>(parallelism_.tensor);
  if (!model_.latent) {
    const auto d = static_cast<double>(model_.head_size);
    const double projected = (heads + 2 * KvHeadsOfRank()) * d;
    Matmul(out, "qkv", layers, rows, projected, h);
    if (model_.head_norm_layers > 0)
      out.push_back(Traffic("head-norms", static_cast<double>(model_.head_norm_layers),
                            2 * kActivation * rows * (heads + KvHeadsOfRank()) * d));
    if (!precision_.rotating_attention)
      out.push_back(Traffic("rope-and-cache", layers, 2 * kActivation * rows * projected));
    Matmul(out, "attention-output", layers, rows, h, heads * d);
    return;
  }
  const LatentAttention& latent = *model_.latent;
  const auto rank = static_cast<double>(latent.rank);
  const auto rope = static_cast<double>(latent.rope);
  const auto nope = static_cast<double>(latent.nope);
  const auto value = static_cast<double>(latent.value);
  const auto query_rank = static_cast<double>(latent.query_rank);
  Matmul(out, "latent", layers, rows, query_rank + rank + rope, h);
  out.push_back(Traffic("latent-norm", layers, 2 * kActivation * rows * (query_rank + rank + rope)));
  Matmul(out, "queries", layers, rows, heads * (nope + rope), query_rank > 0 ? query_rank : h);
  out.push_back(Traffic("rope-and-cache", layers, 2 * kActivation * rows * (heads * rope + rank + rope)));
  // Absorbed into queries and outputs, or expanded: the same weights and multiplications.
  Matmul(out, "latent-heads", layers, rows, heads * (nope + value), rank);
  Matmul(out, "attention-output", layers, rows, h, heads * value);
}

void StepKernels::Mlp(std::vector<StepKernel>& out, double count, double rows, double width) const {
  const auto h = static_cast<double>(model_.width);
  const double parts = model_.gated ? 2 : 1;
  if (model_.gated && precision_.gate_apart) {
    Matmul(out, "gate", count, rows, width, h);
    Matmul(out, "up", count, rows, width, h);
  } else {
    Matmul(out, model_.gated ? "gate-up" : "up", count, rows, parts * width, h);
  }
  out.push_back(Traffic("activation", count, (1 + parts) * kActivation * rows * width));
  Matmul(out, "down", count, rows, h, width);
}

// Dispatch in 8 bits and combine in 16, of chosen rows alone; or, where engines gather, of all rows. Experts' kernels
// quantise themselves where scales are of blocks.
void StepKernels::ExchangeTokens(std::vector<StepKernel>& out, double rows) const {
  const auto layers = static_cast<double>(model_.expert_layers());
  const auto h = static_cast<double>(model_.width);
  const int64_t ranks = parallelism_.tensor * parallelism_.data;
  if (precision_.exchange != Exchange::kChosen) {
    const bool before =
        precision_.exchange == Exchange::kGatherQuantised && precision_.weights != WeightFormat::kFp8Block;
    const double element = before ? FactsOf(precision_.weights).activation_bytes : kActivation;
    out.push_back(Collective("dispatch", KernelKind::kAllGather, layers, rows * h * element, ranks));
    out.push_back(Collective("combine", KernelKind::kReduceScatter, layers, rows * h * kActivation, ranks));
    return;
  }
  const double bytes = rows * static_cast<double>(model_.experts.active) / static_cast<double>(parallelism_.expert) * h;
  out.push_back(Collective("dispatch", KernelKind::kAllToAll, layers, bytes, ranks));
  out.push_back(Collective("combine", KernelKind::kAllToAll, layers, kActivation * bytes, ranks));
}

void StepKernels::ExpertKernels(std::vector<StepKernel>& out, double rows) const {
  const Experts& experts = model_.experts;
  const auto layers = static_cast<double>(model_.expert_layers());
  const auto h = static_cast<double>(model_.width);
  const double ranks = static_cast<double>(parallelism_.expert);
  const double active = static_cast<double>(experts.active);
  // With experts of their own, ranks split experts; else all of them split each.
  const double devices = static_cast<double>(parallelism_.tensor * parallelism_.data);
  const double split = std::max(1.0, devices / ranks);
  const double touched = std::max(1.0, Touched(experts, rows) / ranks);
  const double routed = rows * active / ranks;
  const double width = static_cast<double>(experts.width) / split;
  const Routing routing{.tokens = rows,
                        .chosen = active,
                        .experts = static_cast<double>(experts.count),
                        .ranks = ranks,
                        .exponent = model_.latent ? kDeepSeekExponent : kExponent};
  out.push_back({.name = "router",
                 .kind = KernelKind::kMatmul,
                 .count = layers,
                 .m = LocalRows(rows),
                 .n = static_cast<double>(experts.count),
                 .k = h});
  if (parallelism_.data > 1) ExchangeTokens(out, rows);
  out.push_back({.name = "expert-gate-up",
                 .kind = KernelKind::kMatmul,
                 .count = layers,
                 .b = touched,
                 .routing = routing,
                 .m = routed / touched,
                 .n = 2 * width,
                 .k = h,
                 .quantised = true});
  out.push_back({.name = "expert-down",
                 .kind = KernelKind::kMatmul,
                 .count = layers,
                 .b = touched,
                 .routing = routing,
                 .m = routed / touched,
                 .n = h,
                 .k = width,
                 .quantised = true});
  // Tokens are gathered, activated and summed.
  out.push_back({.name = "expert-rows",
                 .kind = KernelKind::kExpertRows,
                 .count = layers,
                 .routing = routing,
                 .m = routed,
                 .n = h,
                 .k = width,
                 .quantised = true,
                 .bytes = kActivation * (routed * (3 * h + 3 * width) + LocalRows(rows) * h)});
  if (experts.shared_width > 0)
    Mlp(out, layers, LocalRows(rows),
        static_cast<double>(experts.shared_width) / static_cast<double>(parallelism_.tensor));
}

std::vector<StepKernel> StepKernels::Layers(double rows) const {
  std::vector<StepKernel> out;
  const double local = LocalRows(rows);
  const auto layers = static_cast<double>(model_.layers);
  const auto h = static_cast<double>(model_.width);
  out.push_back(Traffic("embedding", 1, 2 * kActivation * local * h));
  const double blocks = (model_.one_sum ? 1 : 2) * layers;
  out.push_back(Traffic("norm", blocks, 4 * kActivation * local * h));  // reads and writes sum and result
  AttentionMatmuls(out, local);
  const double dense = layers - static_cast<double>(model_.expert_layers());
  if (dense > 0)
    Mlp(out, dense, local, static_cast<double>(model_.mlp_width) / static_cast<double>(parallelism_.tensor));
  if (model_.experts.count > 0) ExpertKernels(out, rows);
  if (parallelism_.tensor > 1) {
    const bool exchanged = parallelism_.data > 1 && model_.experts.count > 0;  // by dispatch and combine
    const double sums = exchanged ? layers + dense : blocks;
    out.push_back(Collective("all-reduce", KernelKind::kAllReduce, sums, kActivation * local * h, parallelism_.tensor));
  }
  if (parallelism_.pipeline > 1)
    out.push_back(Collective("send", KernelKind::kPermute, static_cast<double>(parallelism_.pipeline - 1),
                             kActivation * local * h, 2));
  return out;
}

std::vector<StepKernel> StepKernels::Head(double rows) const {
  std::vector<StepKernel> out;
  if (rows <= 0) return out;
  const double local = LocalRows(rows);
  const auto h = static_cast<double>(model_.width);
  const auto vocabulary = static_cast<double>(model_.vocabulary);
  constexpr double kLogit = 4;  // bytes
  out.push_back(Traffic("norm", 1, 4 * kActivation * local * h));
  out.push_back({.name = "head",
                 .kind = KernelKind::kMatmul,
                 .m = local,
                 .n = vocabulary / static_cast<double>(parallelism_.tensor),
                 .k = h});
  if (parallelism_.tensor > 1)
    out.push_back(
        Collective("gather-logits", KernelKind::kAllGather, 1, kActivation * local * vocabulary, parallelism_.tensor));
  out.push_back(Traffic("sample", 1, (kActivation + 2 * kLogit) * local * vocabulary));
  return out;
}

AttentionCalls StepKernels::Attention(const StepShape& step) const {
  AttentionCalls out;
  const double share = 1 / RanksApart();
  AttentionCall call{.heads = static_cast<double>(model_.heads) / static_cast<double>(parallelism_.tensor),
                     .kv_heads = KvHeadsOfRank(),
                     .head_size = static_cast<double>(model_.head_size),
                     .value_size = static_cast<double>(model_.head_size),
                     .cache_bytes = precision_.cache_bytes(),
                     .ungrouped = precision_.ungrouped_attention,
                     .rotates = precision_.rotating_attention && !model_.latent};
  call.cache_width = 2 * call.kv_heads * call.head_size;
  const auto add = [&](double layers, double window) {
    call.count = layers;
    call.window = window;
    if (layers <= 0) return;
    if (step.decode_requests > 0) {
      const double mean = step.decode_context / step.decode_requests;
      const double seen = window > 0 ? std::min(mean, window) : mean;
      AttentionCall decode = call;
      decode.requests = std::ceil(step.decode_requests * share);
      decode.rows = step.decode_rows * share;
      decode.context = decode.requests * seen;
      decode.before = mean;
      decode.pairs = decode.rows * seen;
      if (model_.latent) {
        decode.kv_heads = 1;
        decode.head_size = static_cast<double>(model_.latent->rank + model_.latent->rope);
        decode.value_size = static_cast<double>(model_.latent->rank);
        decode.cache_width = decode.head_size;
      }
      out.push_back(decode);
    }
    if (step.prompt_tokens > 0) {
      AttentionCall prompt = call;
      const double mean = step.prompt_pairs / step.prompt_tokens;
      const double seen = window > 0 ? std::min(mean, window) : mean;
      prompt.decode = false;
      prompt.f8 = PromptsIn8Bits();
      prompt.requests = std::max(1.0, std::ceil(step.prompt_requests * share));
      prompt.rows = step.prompt_tokens * share;
      prompt.context = step.prompt_context * share;
      prompt.before = mean;
      prompt.pairs = prompt.rows * seen;
      if (model_.latent) {
        prompt.head_size = static_cast<double>(model_.latent->nope + model_.latent->rope);
        prompt.value_size = static_cast<double>(model_.latent->value);
        prompt.kv_heads = prompt.heads;
        prompt.cache_width = model_.CacheWidth();
      }
      out.push_back(prompt);
    }
  };
  add(static_cast<double>(model_.layers - model_.window_layers), 0);
  add(static_cast<double>(model_.window_layers), static_cast<double>(model_.window));
  return out;
}

double StepKernels::WeightBytes() const {
  const WeightFormatFacts& facts = FactsOf(precision_.weights);
  const double bytes = facts.weight_bytes;
  const double others = facts.experts_only ? kActivation : bytes;
  const double tensor = static_cast<double>(parallelism_.tensor);
  const double stages = static_cast<double>(parallelism_.pipeline);
  const auto with_experts = static_cast<double>(model_.expert_layers());
  const double experts = with_experts * static_cast<double>(model_.experts.count) * model_.ExpertWeights();
  const double rest = model_.LayerWeights() - experts;
  const double devices = tensor * (model_.experts.count > 0 ? static_cast<double>(parallelism_.data) : 1);
  const double tables = model_.HeadWeights() * (model_.tied ? 1 : 2) * kActivation / tensor;
  return (rest * others / tensor + experts * bytes / devices) / stages + tables / std::min(stages, 2.0);
}

double StepKernels::CacheBytesPerToken() const {
  const double width =
      model_.latent ? model_.CacheWidth() : 2 * KvHeadsOfRank() * static_cast<double>(model_.head_size);
  return static_cast<double>(model_.layers) * width * precision_.cache_bytes() /
         static_cast<double>(parallelism_.pipeline);
}

double StepKernels::RotationBytes(double element) const {
  const int64_t rotated = model_.latent ? model_.latent->rope : model_.head_size;
  return static_cast<double>(model_.context) * static_cast<double>(rotated) * element;
}

}  // namespace hespas::serve
