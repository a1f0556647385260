#include "validate/serving.h"

#include <fmt/format.h>

#include <cctype>
#include <limits>

#include "driver/serving/serve.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

constexpr int64_t kRequests = 2000;  // of a maximum load: enough that start and end count little

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

int64_t Count(const CsvTable& table, size_t row, std::string_view column) {
  return std::max<int64_t>(static_cast<int64_t>(CellNumber(table, row, column)), 1);
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
  options.engine = CellText(table, row, "engine").starts_with("vLLM") ? "vllm" : "trtllm";
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
    options.load.requests = kRequests;
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
