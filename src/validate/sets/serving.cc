#include "validate/sets/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "driver/serving/server.h"
#include "hardware/capability.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"
#include "validate/sets/trtllm_bench.h"

namespace hespas::validate {
namespace {

int64_t Count(const CsvTable& table, size_t row, std::string_view column) {
  return std::max<int64_t>(static_cast<int64_t>(CellNumber(table, row, column)), 1);
}

// LLM-Inference-Bench (2024): vLLM's first engine; TensorRT-LLM 0.11, as its requirements.txt says.
std::string EngineOf(std::string_view id, std::string_view measured) {
  if (id.starts_with("trt23-")) return "trtllm-0.5";
  if (!measured.starts_with("vLLM")) return id.starts_with("lib-") ? "trtllm-0.11" : "trtllm";
  return measured == "vLLM" || measured.starts_with("vLLM 0.7") ? "vllm-0.7" : "vllm";
}

// Formats of the cache in the options that NVIDIA's page gives (NVIDIA/TensorRT-LLM@03e27c7d5ff0,
// developer-guide/perf-overview.md): FP8 for DeepSeek, and for gpt-oss but on Hopper. Others follow the checkpoint.
std::string StatedCache(const driver::ServeOptions& options) {
  Diagnostics diagnostics;
  const auto device = hardware::LoadDevice(options.device.name, diagnostics);
  const bool hopper = device && hardware::ComputeCapability(*device) / 10 == 9;
  const bool stated = options.model.starts_with("DeepSeek") || (options.model.starts_with("gpt-oss") && !hopper);
  return stated ? "fp8" : "auto";
}

// The commands of NVIDIA's page run experts on several devices with attention data parallel (enable_attention_dp in
// its options), also where a row of its first edition does not say so.
void SpreadExperts(const CsvTable& table, size_t row, driver::ServeOptions& options) {
  const bool unstated = CellText(table, row, "notes").find("expert layout not stated") != std::string::npos;
  if (!unstated || options.tensor == 1) return;
  options.expert = options.data = options.tensor;
  options.tensor = 1;
}

driver::ServeOptions OptionsOf(const CsvTable& table, size_t row) {
  driver::ServeOptions options;
  options.model = CellText(table, row, "model");
  options.device.name = CellText(table, row, "device");
  options.devices = Count(table, row, "devices");
  options.tensor = Count(table, row, "tp");
  options.pipeline = Count(table, row, "pp");
  options.expert = Count(table, row, "ep");
  options.data = Count(table, row, "dp");
  SpreadExperts(table, row, options);
  options.in_process = true;  // no row has HTTP in its times
  options.weights = CellText(table, row, "weights");
  const std::string cache = CellText(table, row, "kv");
  if (!cache.empty()) options.cache = cache;
  options.engine = EngineOf(CellText(table, row, "id"), CellText(table, row, "engine"));
  options.load.input = CellText(table, row, "isl");
  options.load.output = CellText(table, row, "osl");
  return options;
}

struct Figure {
  std::string name;
  double measured_us = 0;
  double predicted_us = 0;
  std::optional<double> sigma;  // relative
};

constexpr double kMicro = 1e6;
constexpr double kMilli = 1e3;

enum class Kind : uint8_t { kMaximumLoad, kStaticBatch, kReplay };

Kind KindOf(const CsvTable& table, size_t row) {
  if (!CellText(table, row, "request_rate").empty()) return Kind::kReplay;
  return CellText(table, row, "concurrency").empty() ? Kind::kMaximumLoad : Kind::kStaticBatch;
}

// All prompts in one step, as offline benchmarks call an engine; beyond the context of the model where they do.
void AskStaticBatch(const CsvTable& table, size_t row, driver::ServeOptions& options) {
  const int64_t batch = Count(table, row, "concurrency");
  options.load.clients = options.load.requests = options.max_requests = batch;
  const auto length = [&](std::string_view column) { return Count(table, row, column); };
  if (options.engine.starts_with("trtllm")) options.max_tokens = batch * length("isl");
  // GptSession of 2023 runs the batch that it is given, whole (cpp/tensorrt_llm/runtime/gptSession.cpp, generate).
  if (options.engine == "trtllm-0.5") options.cache_blocks = batch * (length("isl") + length("osl"));
  constexpr int64_t kContext = 131'072;
  if (length("isl") + length("osl") <= kContext) options.context = kContext;
}

bool AskReplay(const CsvTable& table, size_t row, driver::ServeOptions& options, Diagnostics& diagnostics) {
  const auto data = hardware::DataFolder();
  if (!data) return diagnostics.Report(data.error()), false;
  options.load = {.trace = (*data / "measured" / "serving_requests.csv.gz").string(),
                  .trace_run = CellText(table, row, "id")};
  constexpr int64_t kBudget = 2048;  // of all recorded runs
  options.max_tokens = kBudget;
  options.max_requests = Count(table, row, "max_requests");
  if (!CellText(table, row, "kv_blocks").empty()) options.cache_blocks = Count(table, row, "kv_blocks");
  return true;
}

bool AskMaximumLoad(const CsvTable& table, size_t row, driver::ServeOptions& options, Diagnostics& diagnostics) {
  options.load.rate = std::numeric_limits<double>::infinity();
  options.load.requests = Count(table, row, "requests");
  if (!options.engine.starts_with("trtllm")) {
    options.max_requests = Count(table, row, "max_requests");
    constexpr int64_t kSchedulerSteps = 10;  // of AMD's runs on MI300X
    options.scheduler_steps = kSchedulerSteps;
    return true;
  }
  if (options.cache == "auto") options.cache = StatedCache(options);
  const auto server = driver::MakeServer(options, diagnostics);
  if (!server) return false;
  const BenchLimits limits = BenchLimitsOf(*server, static_cast<double>(options.devices), CellNumber(table, row, "isl"),
                                           CellNumber(table, row, "osl"));
  options.max_requests = limits.requests;
  options.max_tokens = limits.tokens;
  return true;
}

// How the row was measured; nothing but the load for its kind.
bool AskAsMeasured(const CsvTable& table, size_t row, driver::ServeOptions& options, Diagnostics& diagnostics) {
  switch (KindOf(table, row)) {
    case Kind::kReplay:
      return AskReplay(table, row, options, diagnostics);
    case Kind::kMaximumLoad:
      return AskMaximumLoad(table, row, options, diagnostics);
    default:
      AskStaticBatch(table, row, options);
      return true;
  }
}

// Tables of 2023 and 2024, whose software is older than any profile, stand apart.
std::string SourceOf(const std::string& id) {
  if (id.starts_with("lib-")) return ", 2024";
  return id.starts_with("trt23-") ? ", 2023" : "";
}

// Of a static batch: until its last first token, as a run of one token shows it.
double FirstTokenUs(const driver::ServeOptions& options, Diagnostics& diagnostics) {
  driver::ServeOptions one = options;
  one.load.output = "1";
  const auto answer = driver::Serve(one, diagnostics);
  return answer ? answer->run.wall * kMicro : 0;
}

std::vector<Figure> StaticFigures(const CsvTable& table, size_t row, const driver::ServeOptions& options,
                                  const driver::ServeAnswer& a, const std::string& name) {
  std::vector<Figure> figures;
  const auto cell = [&](std::string_view column) { return CellNumber(table, row, column); };
  const bool answered = a.run.wall > 0;
  Diagnostics ignored;
  if (cell("ttft_ms") > 0) {
    const bool lone = Count(table, row, "concurrency") == 1;
    figures.push_back({name + (lone ? ", lone first token" : ", first tokens"), cell("ttft_ms") * kMilli,
                       answered ? FirstTokenUs(options, ignored) : 0, a.sigma_ttft});
  }
  if (cell("tpot_ms") > 0)
    figures.push_back({name + ", each token", cell("tpot_ms") * kMilli, a.figures.tpot.mean * kMicro, a.sigma_tpot});
  const double rate = cell("tokens_per_s_per_device") * static_cast<double>(options.devices);
  const double tokens = cell("concurrency") * cell("osl");
  if (cell("e2e_ms") > 0 || rate > 0) {
    const double whole = cell("e2e_ms") > 0 ? cell("e2e_ms") * kMilli : tokens / rate * kMicro;
    figures.push_back({name, whole, a.run.wall * kMicro, a.sigma_tpot});
  }
  return figures;
}

// A row without an answer is predicted by 0: an error of 100 %.
std::vector<Figure> FiguresOf(const CsvTable& table, size_t row) {
  Diagnostics found;  // a device that is not shipped counts as no prediction
  const std::string id = CellText(table, row, "id");
  driver::ServeOptions options = OptionsOf(table, row);
  std::optional<driver::ServeAnswer> answer;
  if (AskAsMeasured(table, row, options, found)) answer = driver::Serve(options, found);
  const driver::ServeAnswer a = answer ? *std::move(answer) : driver::ServeAnswer{};
  const auto name = [&](std::string_view kind) { return fmt::format("{} {}{}", options.engine, kind, SourceOf(id)); };
  switch (KindOf(table, row)) {
    case Kind::kReplay:
      return {{name("replay, first token"), CellNumber(table, row, "ttft_ms") * kMilli, a.figures.ttft.mean * kMicro,
               a.sigma_ttft},
              {name("replay, each token"), CellNumber(table, row, "tpot_ms") * kMilli, a.figures.tpot.mean * kMicro,
               a.sigma_tpot}};
    case Kind::kStaticBatch:
      return StaticFigures(table, row, options, a, name("static batch"));
    default: {
      const double rate = a.figures.tokens_per_s / static_cast<double>(options.devices);
      const bool stated = CellText(table, row, "confidence") == "high";
      return {{name(stated ? "maximum load" : "maximum load, layout or formats not stated"),
               kMicro / CellNumber(table, row, "tokens_per_s_per_device"), rate > 0 ? kMicro / rate : 0, a.sigma_tpot}};
    }
  }
}

// Over all devices.
std::string_view PooledName(std::string_view figure) {
  if (figure.ends_with("lone first token")) return "all, first token of lone requests";
  if (figure.ends_with("first token") || figure.ends_with("first tokens")) return "all, first token";
  return figure.find("maximum load") != figure.npos ? "all, maximum load" : "all, each token";
}

}  // namespace

bool AddServing(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("serving.csv.gz", diagnostics);
  if (!table) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    for (const Figure& figure : FiguresOf(*table, row)) {
      const Comparison comparison{.measured = figure.measured_us,
                                  .predicted = figure.predicted_us,
                                  .sigma = figure.sigma.value_or(0) * figure.predicted_us};
      groups[{kServingSet, mode, CellText(*table, row, "device"), figure.name}].push_back(comparison);
      groups[{kServingSet, mode, "all", std::string(PooledName(figure.name))}].push_back(comparison);
    }
  }
  return true;
}

}  // namespace hespas::validate
