#include "validate/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "driver/serving/server.h"
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

struct Kind {
  std::string name;
  double measured_us = 0;
  double predicted_us = 0;
};

// Nothing for rows of another kind: open loops need their requests one by one.
std::optional<Kind> Ask(const CsvTable& table, size_t row, driver::ServeAnswer& answer, Diagnostics& diagnostics) {
  driver::ServeOptions options = OptionsOf(table, row);
  if (!CellText(table, row, "request_rate").empty()) return std::nullopt;
  const bool batch = !CellText(table, row, "concurrency").empty();
  if (batch) {
    options.load.clients = options.load.requests = options.max_requests = Count(table, row, "concurrency");
  } else {
    options.load.rate = std::numeric_limits<double>::infinity();
    options.load.requests = Count(table, row, "requests");
    const auto server = driver::MakeServer(options, diagnostics);
    const double input = CellNumber(table, row, "isl");
    const double output = CellNumber(table, row, "osl");
    const auto fit = server ? static_cast<double>(server->memory->cache_tokens) / (input + output) : 0;
    TuneAsBench(fit, input, output, options);
  }
  // A row without an answer is predicted by 0: an error of 100 %.
  auto found = driver::Serve(options, diagnostics);
  if (found) answer = *std::move(found);
  const double rate = answer.figures.tokens_per_s;
  constexpr double kMicro = 1e6;
  if (batch) {
    return Kind{.name = fmt::format("{} static batch", options.engine),
                .measured_us = CellNumber(table, row, "e2e_ms") * 1e3,
                .predicted_us = answer.run.wall * kMicro};
  }
  return Kind{.name = fmt::format("{} maximum load", options.engine),
              .measured_us = kMicro / CellNumber(table, row, "tokens_per_s_per_device"),
              .predicted_us = rate > 0 ? kMicro * static_cast<double>(options.devices) / rate : 0};
}

}  // namespace

bool AddServing(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("serving.csv", diagnostics);
  if (!table) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    Diagnostics found;  // a device that is not shipped counts as no prediction
    driver::ServeAnswer answer;
    const auto kind = Ask(*table, row, answer, found);
    if (!kind) continue;
    const double sigma = answer.sigma_tpot.value_or(0) * kind->predicted_us;
    groups[{kServingSet, mode, CellText(*table, row, "device"), kind->name}].push_back(
        {.measured = kind->measured_us, .predicted = kind->predicted_us, .sigma = sigma});
  }
  return true;
}

}  // namespace hespas::validate
