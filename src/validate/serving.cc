#include "validate/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "driver/serving/server.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

int64_t Count(const CsvTable& table, size_t row, std::string_view column) {
  return std::max<int64_t>(static_cast<int64_t>(CellNumber(table, row, column)), 1);
}

std::string EngineOf(std::string_view measured) {
  if (!measured.starts_with("vLLM")) return "trtllm";
  return measured.starts_with("vLLM 0.7") ? "vllm-0.7" : "vllm";
}

// Limits that trtllm-bench sets for a maximum load where it is told none (NVIDIA/TensorRT-LLM v1.0,
// tensorrt_llm/bench/build/tuning.py, finetune_setting, and bench/benchmark/utils/general.py, get_settings).
void TuneAsBench(double requests_that_fit, double input, double output, driver::ServeOptions& options) {
  const auto up = [](double value, double step) { return step * std::ceil(value / step); };
  const double batch = std::min(requests_that_fit, 4096.0) / static_cast<double>(options.pipeline.value_or(1));
  const double tokens = std::min(batch * (1 + input / output), 32768.0);
  const double most = batch < 256 ? std::max(64.0, up(batch, 32)) : up(batch, batch < 1024 ? 128 : 256);
  const double budget = tokens < 4096 ? std::max(2048.0, up(tokens, 256)) : up(tokens, tokens < 8192 ? 512 : 1024);
  options.max_requests = static_cast<int64_t>(most);
  options.max_tokens = static_cast<int64_t>(std::max(budget, input + most));
}

driver::ServeOptions OptionsOf(const CsvTable& table, size_t row) {
  driver::ServeOptions options;
  options.model = Lower(CellText(table, row, "model"));
  options.device.name = CellText(table, row, "device");
  options.devices = Count(table, row, "devices");
  options.tensor = Count(table, row, "tp");
  options.pipeline = Count(table, row, "pp");
  options.expert = Count(table, row, "ep");
  options.data = Count(table, row, "dp");
  options.weights = CellText(table, row, "weights");
  const std::string cache = CellText(table, row, "kv");
  if (!cache.empty()) options.cache = cache;
  options.engine = EngineOf(CellText(table, row, "engine"));
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

std::string KindOf(const CsvTable& table, size_t row) {
  if (!CellText(table, row, "request_rate").empty()) return "replay";
  return CellText(table, row, "concurrency").empty() ? "maximum load" : "static batch";
}

// How the row was measured; nothing but the load for its kind.
bool AskAsMeasured(const CsvTable& table, size_t row, driver::ServeOptions& options, Diagnostics& diagnostics) {
  const std::string kind = KindOf(table, row);
  if (kind == "static batch") {
    options.load.clients = options.load.requests = options.max_requests = Count(table, row, "concurrency");
    return true;
  }
  if (kind == "replay") {
    const auto data = hardware::DataFolder();
    if (!data) return diagnostics.Report(data.error()), false;
    options.load = {.trace = (*data / "measured" / "serving_requests.csv.gz").string(),
                    .trace_run = CellText(table, row, "id")};
    constexpr int64_t kBudget = 2048;  // of all recorded runs
    options.max_tokens = kBudget;
    options.max_requests = Count(table, row, "max_requests") * options.data.value_or(1);
    if (!CellText(table, row, "kv_blocks").empty()) options.cache_blocks = Count(table, row, "kv_blocks");
    return true;
  }
  options.load.rate = std::numeric_limits<double>::infinity();
  options.load.requests = Count(table, row, "requests");
  const auto server = driver::MakeServer(options, diagnostics);
  if (!server) return false;
  const double input = CellNumber(table, row, "isl");
  const double output = CellNumber(table, row, "osl");
  TuneAsBench(static_cast<double>(server->memory->cache_tokens) / (input + output), input, output, options);
  return true;
}

// A row without an answer is predicted by 0: an error of 100 %.
std::vector<Figure> Compare(const CsvTable& table, size_t row) {
  Diagnostics found;  // a device that is not shipped counts as no prediction
  driver::ServeOptions options = OptionsOf(table, row);
  std::optional<driver::ServeAnswer> answer;
  if (AskAsMeasured(table, row, options, found)) answer = driver::Serve(options, found);
  const driver::ServeAnswer a = answer ? *std::move(answer) : driver::ServeAnswer{};
  const std::string kind = KindOf(table, row);
  const std::string name = fmt::format("{} {}", options.engine, kind);
  if (kind == "replay") {
    return {{name + ", first token", CellNumber(table, row, "ttft_ms") * kMilli, a.figures.ttft.mean * kMicro,
             a.sigma_ttft},
            {name + ", each token", CellNumber(table, row, "tpot_ms") * kMilli, a.figures.tpot.mean * kMicro,
             a.sigma_tpot}};
  }
  if (kind == "static batch")
    return {{name, CellNumber(table, row, "e2e_ms") * kMilli, a.run.wall * kMicro, a.sigma_tpot}};
  const double rate = a.figures.tokens_per_s / static_cast<double>(options.devices);
  return {
      {name, kMicro / CellNumber(table, row, "tokens_per_s_per_device"), rate > 0 ? kMicro / rate : 0, a.sigma_tpot}};
}

}  // namespace

bool AddServing(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("serving.csv", diagnostics);
  if (!table) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    for (const Figure& figure : Compare(*table, row)) {
      groups[{kServingSet, mode, CellText(*table, row, "device"), figure.name}].push_back(
          {.measured = figure.measured_us,
           .predicted = figure.predicted_us,
           .sigma = figure.sigma.value_or(0) * figure.predicted_us});
    }
  }
  return true;
}

}  // namespace hespas::validate
