#include "validate/calibrate.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "base/text/json.h"
#include "estimate/calibrated/fit/fit.h"
#include "estimate/calibrated/fit/table.h"
#include "hardware/presets.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

struct Measurements {
  std::vector<calibrated::MeasuredKernel> kernels;
  std::vector<calibrated::MeasuredCollective> collectives;
};

template <class T>
std::optional<T> Unwrap(Result<T> result, Diagnostics& diagnostics) {
  if (result) return *std::move(result);
  diagnostics.Report(result.error());
  return std::nullopt;
}

std::optional<size_t> MeasuredColumn(const CsvTable& table) {
  for (const char* name : {"latency_us", "t_us", "measured_us"}) {
    if (const auto column = table.Column(name)) return column;
  }
  return std::nullopt;
}

double Number(const CsvTable& table, size_t row, std::optional<size_t> column) {
  return column ? CsvNumber(table.rows[row][*column]).value_or(0) : 0;
}

// Rows whose op is a collective leave the table and become measurements.
void TakeCollectives(CsvTable& table, size_t measured, Measurements& measurements) {
  const auto op = table.Column("op");
  const auto ranks = table.Column("N");
  const auto bytes = table.Column("bytes");
  if (!op || !ranks || !bytes) return;
  CsvTable rest{.columns = table.columns, .rows = {}, .lines = {}};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (const auto kind = calibrated::ParseCollective(table.rows[row][*op])) {
      measurements.collectives.push_back(
          {.collective = {.op = *kind, .ranks = Number(table, row, ranks), .bytes = Number(table, row, bytes)},
           .us = Number(table, row, measured)});
    } else {
      rest.rows.push_back(table.rows[row]);
      rest.lines.push_back(table.lines[row]);
    }
  }
  table = std::move(rest);
}

std::optional<Measurements> ReadMeasurements(const std::string& file, Diagnostics& diagnostics) {
  const auto text = Unwrap(ReadInput(file), diagnostics);
  auto table = text ? Unwrap(ParseCsv(*text, file), diagnostics) : std::nullopt;
  if (!table) return std::nullopt;
  const auto measured = MeasuredColumn(*table);
  if (!measured) {
    diagnostics.Error(calibrated::kMissingColumn, "no column `latency_us`", {.file = file, .line = 1},
                      "give each row's measured time in microseconds");
    return std::nullopt;
  }
  Measurements measurements;
  TakeCollectives(*table, *measured, measurements);
  const auto kernels = Unwrap(calibrated::ReadKernels(*table, file, diagnostics), diagnostics);
  if (!kernels) return std::nullopt;
  for (size_t row = 0; row < kernels->size(); ++row) {
    const auto& kernel = (*kernels)[row];
    if (kernel) measurements.kernels.push_back({.kernel = *kernel, .us = Number(*table, row, measured)});
  }
  return measurements;
}

double Rounded(double value) {
  const double scale = std::pow(10, 4 - std::ceil(std::log10(std::abs(value) + 1e-300)));
  return std::round(value * scale) / scale;
}

// The base file's own text with the constants put in; other keys keep their order.
std::string DeviceFile(const std::string& base_text, const std::string& measurements,
                       const std::vector<calibrated::FamilyFit>& fits) {
  auto json = ReadOrderedJson(base_text);
  auto& constants = json["calibration"];
  for (const calibrated::FamilyFit& fit : fits) {
    for (const auto& [key, value] : fit.constants) constants[key] = Rounded(value);
    for (const auto& [key, value] : fit.sigmas) constants[key] = Rounded(value);
    json["sources"][fmt::format("calibration.{}", fit.family)] =
        fmt::format("hespas calibrate on {} measurements of {}: mean error {:.1f} %, cross-validated {:.1f} %",
                    fit.measurements, measurements, 100 * fit.error_after, 100 * fit.error_cross_validated);
  }
  return JsonText(json, 2) + "\n";
}

report::Table ErrorTable(const std::vector<calibrated::FamilyFit>& fits) {
  using report::Align;
  const auto percent = [](double fraction) { return fmt::format("{:.2f}", 100 * fraction); };
  report::Table table;
  table.columns = {{"family"},
                   {"measurements", Align::kRight},
                   {"before %", Align::kRight},
                   {"fitted %", Align::kRight},
                   {"cross-validated %", Align::kRight}};
  for (const calibrated::FamilyFit& fit : fits) {
    table.rows.push_back({fit.family, fmt::format("{}", fit.measurements), percent(fit.error_before),
                          percent(fit.error_after), percent(fit.error_cross_validated)});
  }
  return table;
}

}  // namespace

std::optional<Calibration> Calibrate(const std::string& measurements, const std::string& device,
                                     Diagnostics& diagnostics) {
  const auto path = Unwrap(hardware::FindPreset(hardware::PresetKind::kDevice, device), diagnostics);
  const auto base_text = path ? Unwrap(ReadInput(path->string()), diagnostics) : std::nullopt;
  const auto base = base_text ? hardware::ReadDevice(*base_text, path->string(), diagnostics) : std::nullopt;
  const auto parameters = Unwrap(calibrated::DefaultParameters(), diagnostics);
  const auto measured = base && parameters ? ReadMeasurements(measurements, diagnostics) : std::nullopt;
  if (!measured) return std::nullopt;
  const auto fits =
      Unwrap(calibrated::FitDevice(*base, *parameters, measured->kernels, measured->collectives), diagnostics);
  if (!fits) return std::nullopt;
  const std::string name = std::filesystem::path(measurements).filename().string();
  return Calibration{.device_file = DeviceFile(*base_text, name, *fits), .errors = ErrorTable(*fits)};
}

report::Table MeasurementPlan() {
  report::Table plan;
  for (const char* column : {"op", "dtype", "b", "m", "n", "k", "latency_us"}) plan.columns.push_back({column});
  const auto matmul = [&](const char* op, const char* type, int b, int m, int n, int k) {
    plan.rows.push_back(
        {op, type, fmt::format("{}", b), fmt::format("{}", m), fmt::format("{}", n), fmt::format("{}", k), ""});
  };
  const auto rows = [&](const char* op, int b, int n) {
    plan.rows.push_back({op, "f32", fmt::format("{}", b), "", fmt::format("{}", n), "", ""});
  };
  // From launch-bound to compute-bound, few and many waves, short and long contractions.
  constexpr int kSizes[][4] = {
      {1, 256, 256, 256},    {1, 256, 256, 4096},   {1, 512, 512, 1024},   {1, 512, 1024, 4096},
      {1, 1024, 1024, 512},  {1, 1024, 1024, 4096}, {1, 2048, 1024, 1024}, {1, 1024, 4096, 512},
      {1, 2048, 2048, 2048}, {1, 4096, 1024, 256},  {1, 4096, 2048, 4096}, {1, 4096, 4096, 1024},
      {1, 4096, 4096, 4096}, {1, 8192, 4096, 2048}, {1, 8192, 8192, 8192}, {1, 256, 4096, 2048}};
  constexpr int kBatches[][4] = {{4, 256, 256, 512},  {8, 512, 512, 64},    {16, 1024, 1024, 64}, {16, 1024, 64, 1024},
                                 {32, 512, 512, 512}, {64, 256, 1024, 256}, {96, 2048, 2048, 64}, {96, 2048, 64, 2048}};
  for (const auto& s : kSizes) matmul("gemm", "bf16", s[0], s[1], s[2], s[3]);
  for (const auto& s : kBatches) matmul("gemm", "bf16", s[0], s[1], s[2], s[3]);
  for (const auto& s : kSizes) matmul("linear", "f32", s[0], s[1], s[2], s[3]);
  for (const auto& s : kBatches) matmul("bmm", "f32", s[0], s[1], s[2], s[3]);
  for (const char* op : {"add", "addu", "mul", "tanh"}) {
    for (const int b : {64, 1024, 16384, 131072}) rows(op, b, 1024);
  }
  for (const char* op : {"softmax", "ln"}) {
    for (const int n : {512, 2048, 4096, 16384}) rows(op, 4096, n);
  }
  return plan;
}

}  // namespace hespas::validate
