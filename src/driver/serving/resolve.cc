#include "driver/serving/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text/csv_text.h"
#include "base/text/unit_text.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

void Bad(Diagnostics& diagnostics, std::string message, std::string help = {}) {
  diagnostics.Error(kBadServe, std::move(message), {}, std::move(help));
}

// "4:0.8": two numbers.
std::optional<std::pair<double, double>> Pair(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto a = CsvNumber(text.substr(0, colon));
  const auto b = CsvNumber(text.substr(colon + 1));
  if (!a || !b) return std::nullopt;
  return std::pair(*a, *b);
}

bool IsCount(double value, double least) {
  constexpr double kMost = 1e6;
  return value >= least && value <= kMost && value == static_cast<double>(static_cast<int64_t>(value));
}

void ReadSpeculation(const ServeOptions& options, serve::Policy& policy, Diagnostics& diagnostics) {
  if (options.speculative.empty()) return;
  const auto pair = Pair(options.speculative);
  if (!pair || !IsCount(pair->first, 1) || pair->second < 0 || pair->second > 1) {
    return Bad(diagnostics, fmt::format("--speculative: `{}` is not K:A", options.speculative),
               "K drafts and the share A that is accepted: --speculative 3:0.7");
  }
  policy.speculation = {.drafts = static_cast<int64_t>(pair->first), .acceptance = pair->second};
}

void ReadScheduler(const ServeOptions& options, serve::Policy& policy, Diagnostics& diagnostics) {
  using serve::Admission;
  using serve::Preemption;
  if (!options.scheduler.empty()) {
    const serve::Scheduler* scheduler = serve::FindScheduler(options.scheduler);
    if (!scheduler) {
      std::string known;
      for (const serve::Scheduler& each : serve::Schedulers()) known += fmt::format(" {}", each.name);
      return Bad(diagnostics, fmt::format("there is no scheduler `{}`", options.scheduler), "known:" + known);
    }
    policy.scheduler = *scheduler;
  }
  if (options.admission == "needed") policy.scheduler.admission = Admission::kNeeded;
  if (options.admission == "reserve") policy.scheduler.admission = Admission::kReserve;
  if (options.preemption == "recompute") policy.scheduler.preemption = Preemption::kRecompute;
  if (options.preemption == "swap") policy.scheduler.preemption = Preemption::kSwap;
  if (options.preemption == "none") policy.scheduler.preemption = Preemption::kNone;
}

}  // namespace

int64_t Layout::replica_devices() const {
  return parallelism.tensor * parallelism.pipeline * (data_within ? parallelism.data : 1);
}

std::optional<Layout> ResolveLayout(const ServeOptions& options, const serve::Model* model, Diagnostics& diagnostics) {
  Layout layout;
  constexpr int64_t kMostDevices = 100'000;
  if (options.devices < 1 || options.devices > kMostDevices)
    return Bad(diagnostics, "--devices: between 1 and 100,000 can serve", "for example --devices 8"), std::nullopt;
  for (const auto& each : {options.tensor, options.pipeline, options.expert, options.data}) {
    if (each && (*each < 1 || *each > kMostDevices))
      return Bad(diagnostics, "--tp, --pp, --ep and --dp are at least 1", "leave out what is not split"), std::nullopt;
  }
  int64_t engines = 1;
  if (!options.disaggregate.empty()) {
    const auto pair = Pair(options.disaggregate);
    if (!pair || !IsCount(pair->first, 1) || !IsCount(pair->second, 1)) {
      Bad(diagnostics, fmt::format("--disaggregate: `{}` is not P:D", options.disaggregate),
          "engines for prompts and for tokens: --disaggregate 1:2");
      return std::nullopt;
    }
    layout.prefill = static_cast<int64_t>(pair->first);
    layout.decode = static_cast<int64_t>(pair->second);
    engines = layout.prefill + layout.decode;
  }
  serve::Parallelism& p = layout.parallelism;
  p.pipeline = options.pipeline.value_or(1);
  p.expert = options.expert.value_or(1);
  // What --tp leaves of the devices are replicas; without it, one replica takes them all, or as many as its heads
  // allow.
  const int64_t share = std::max<int64_t>(options.devices / std::max<int64_t>(p.pipeline * engines, 1), 1);
  const int64_t tensor = options.tensor.value_or(model && !options.data ? std::gcd(share, model->heads) : share);
  p.data = options.data.value_or(std::max<int64_t>(share / tensor, 1));
  const int64_t others = p.pipeline * p.data * engines;
  p.tensor = options.tensor.value_or(std::max<int64_t>(options.devices / others, 1));
  if (p.tensor * others != options.devices) {
    Bad(diagnostics,
        fmt::format("tp {} x pp {} x dp {}{} are not {} devices", p.tensor, p.pipeline, p.data,
                    engines > 1 ? fmt::format(" x {} engines", engines) : "", options.devices),
        "leave --tp out: it is what the others leave of --devices");
    return std::nullopt;
  }
  layout.data_within = model && model->experts.count > 0 && p.data > 1;
  layout.replicas = layout.data_within ? 1 : p.data;
  if (!model) return layout;
  const int64_t ranks = p.tensor * (layout.data_within ? p.data : 1);
  if (p.expert > 1 && (model->experts.count == 0 || p.expert > ranks || ranks % p.expert != 0)) {
    Bad(diagnostics, fmt::format("--ep {} does not divide the {} devices of a layer's experts", p.expert, ranks),
        model->experts.count == 0 ? "leave --ep out: the model has no experts" : "choose a divisor");
    return std::nullopt;
  }
  if (model->heads % p.tensor != 0) {
    Bad(diagnostics, fmt::format("--tp {} does not divide {} attention heads", p.tensor, model->heads),
        "choose a divisor, and --dp or --pp for the rest");
    return std::nullopt;
  }
  if (p.pipeline > model->layers)
    return Bad(diagnostics, fmt::format("--pp {}: the model has {} layers", p.pipeline, model->layers),
               "fewer stages, and --tp or --dp for the rest"),
           std::nullopt;
  return layout;
}

std::optional<serve::Precision> ResolvePrecision(const ServeOptions& options, const serve::Model& model,
                                                 const serve::EngineProfile& engine, Diagnostics& diagnostics) {
  serve::Precision precision{.weights = model.weights.value_or(serve::WeightFormat::kBf16)};
  if (!options.weights.empty()) {
    const auto format = serve::WeightFormatOf(options.weights);
    if (!format) {
      Bad(diagnostics, fmt::format("--weights: `{}` is no format", options.weights),
          "known: bf16, fp16, fp8, fp8-block, nvfp4, mxfp4, int4, int8");
      return std::nullopt;
    }
    precision.weights = *format;
  }
  const std::string_view activations = serve::FactsOf(precision.weights).activations;
  const bool quantised = activations == "fp8" || activations == "nvfp4";
  precision.eager = engine.eager;
  precision.quantises_apart = engine.quantises_apart;
  precision.exchange = engine.exchange;
  precision.rotating_attention = engine.rotating_attention;
  precision.fp8_prompts = engine.fp8_prompts;
  precision.gate_apart = engine.gate_apart;
  precision.ungrouped_attention = engine.ungrouped_attention;
  if (options.cache == "auto") {
    if (quantised && engine.fp8_cache_of_quantised) precision.cache = serve::CacheFormat::kFp8;
  } else if (const auto cache = serve::CacheFormatOf(options.cache)) {
    precision.cache = *cache;
  } else {
    Bad(diagnostics, fmt::format("--kv: `{}` is no format of keys and values", options.cache),
        "known: auto, bf16, fp16, fp8, int8, nvfp4");
    return std::nullopt;
  }
  return precision;
}

// Latent vectors in 4 bits: TensorRT-LLM, cpp/tensorrt_llm/common/attentionOp.cpp ("Currently NVFP4 KV cache is not
// supported for MLA").
bool HaveFormats(const serve::Model& model, const serve::Precision& precision, const hardware::Device* device,
                 Diagnostics& diagnostics) {
  const serve::WeightFormatFacts& weights = serve::FactsOf(precision.weights);
  if (weights.experts_only && model.experts.count == 0) {
    Bad(diagnostics,
        fmt::format("--weights {}: {} has no experts, whose weights alone have this format", weights.name, model.name),
        "take nvfp4 or int4");
    return false;
  }
  if (precision.cache != serve::CacheFormat::kNvfp4) return true;
  if (model.latent) {
    Bad(diagnostics, fmt::format("--kv nvfp4: the latent vectors of {} have no kernel for 4 bits", model.name),
        "take --kv fp8");
    return false;
  }
  if (device && !device->Knows("f4E2M1FN")) {
    Bad(diagnostics, fmt::format("--kv nvfp4: {} has no instructions for 4 bits", device->name), "take --kv fp8");
    return false;
  }
  return true;
}

std::optional<serve::EngineProfile> ResolveEngine(const ServeOptions& options, double memory_bytes,
                                                  Diagnostics& diagnostics) {
  const auto data = hardware::DataFolder();
  if (!data) {
    diagnostics.Report(data.error());
    return std::nullopt;
  }
  auto engine = serve::LoadEngine(options.engine, (*data / "serving" / "engines").string(), diagnostics);
  if (!engine) return std::nullopt;
  const size_t before = diagnostics.error_count();
  serve::Policy& policy = engine->policy;
  if (engine->large_memory_bytes > 0 && memory_bytes >= engine->large_memory_bytes) {
    policy.max_tokens = engine->large_max_tokens;
    policy.max_requests = engine->large_max_requests;
  }
  policy.max_tokens = options.max_tokens.value_or(policy.max_tokens);
  policy.max_requests = options.max_requests.value_or(policy.max_requests);
  policy.block = options.block.value_or(policy.block);
  engine->memory_fraction = options.memory_fraction.value_or(engine->memory_fraction);
  constexpr int64_t kMost = 100'000'000;
  for (const int64_t each : {policy.max_tokens, policy.max_requests, policy.block}) {
    if (each < 1 || each > kMost)
      Bad(diagnostics, "--max-batched-tokens, --max-requests and --block are at least 1 and at most 100,000,000",
          "leave them out: the engine's profile has values");
  }
  if (!(engine->memory_fraction > 0 && engine->memory_fraction <= 1))
    Bad(diagnostics, "--memory-fraction lies above 0 and up to 1", "a share, not per cent: --memory-fraction 0.9");
  if (!(options.prefix_hit >= 0 && options.prefix_hit <= 1))
    Bad(diagnostics, "--prefix-hit lies between 0 and 1", "a share, not per cent: --prefix-hit 0.5");
  policy.prefix_hit = options.prefix_hit;
  if (options.scheduler_steps < 1)
    Bad(diagnostics, "--scheduler-steps is at least 1", "leave it out where the host schedules each step");
  policy.overheads.step_s /= static_cast<double>(options.scheduler_steps);
  policy.overheads.request_s /= static_cast<double>(options.scheduler_steps);
  if (options.in_process) policy.overheads.ingress_s = policy.overheads.token_s = 0;
  ReadScheduler(options, policy, diagnostics);
  ReadSpeculation(options, policy, diagnostics);
  return diagnostics.error_count() == before ? engine : std::nullopt;
}

std::optional<serve::Slo> ResolveSlo(const std::string& text, Diagnostics& diagnostics) {
  serve::Slo slo;
  for (size_t begin = 0; begin < text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, comma - begin);
    begin = comma + 1;
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const auto value = equals == std::string::npos ? Result<double>(MakeError(kBadServe, ""))
                                                   : ParseQuantity(item.substr(equals + 1), Unit::kSeconds);
    std::optional<double>* const limit = name == "ttft"   ? &slo.ttft_s
                                         : name == "tpot" ? &slo.tpot_s
                                         : name == "e2e"  ? &slo.e2e_s
                                                          : nullptr;
    if (!limit || !value || !(*value > 0)) {
      Bad(diagnostics, fmt::format("--slo: `{}` is no limit", item), "for example --slo ttft=2s,tpot=50ms");
      return std::nullopt;
    }
    *limit = *value;
  }
  return slo;
}

}  // namespace hespas::driver
