#include "driver/kernel_tables.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/csv_text.h"
#include "base/file.h"
#include "base/json_text.h"
#include "estimate/calibrated/table.h"
#include "hardware/presets.h"
#include "hardware/system.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;

template <class T>
std::optional<T> Unwrap(Result<T> result, Diagnostics& diagnostics) {
  if (result) return *std::move(result);
  diagnostics.Report(result.error());
  return std::nullopt;
}

std::optional<CsvTable> ReadTable(const std::string& file, Diagnostics& diagnostics) {
  const auto text = Unwrap(ReadInput(file), diagnostics);
  return text ? Unwrap(ParseCsv(*text, file), diagnostics) : std::nullopt;
}

report::Table ToReport(CsvTable table) {
  report::Table report;
  for (std::string& column : table.columns) report.columns.push_back({.name = std::move(column)});
  report.rows = std::move(table.rows);
  return report;
}

std::optional<calibrated::Parameters> Parameters(Diagnostics& diagnostics) {
  return Unwrap(calibrated::DefaultParameters(), diagnostics);
}

// The device that a system file names; nothing where it names none.
std::optional<std::string> DeviceOf(const std::filesystem::path& system) {
  const auto text =
      ReadInput(std::filesystem::is_directory(system) ? (system / "system.json").string() : system.string());
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!json.is_object()) return std::nullopt;
  const auto device = json.find("device");
  return device != json.end() && device->is_string() ? std::optional(device->get<std::string>()) : std::nullopt;
}

// What ASTRA-sim's description says of one rank's links.
calibrated::Ports PortsOf(const hardware::System& system) {
  constexpr double kBinaryGigabytePerSecond = 1073.741824;  // byte/us
  calibrated::Ports ports;
  if (system.dimensions.empty()) return ports;
  const hardware::NetworkDimension& inner = system.dimensions.front();
  ports.mesh = inner.kind == hardware::DimensionKind::kFullyConnected;
  ports.peers = std::max(1.0, static_cast<double>(inner.npus) - 1);
  ports.rate = inner.bandwidth * kBinaryGigabytePerSecond * (ports.mesh ? ports.peers : 1);
  return ports;
}

std::optional<calibrated::CollectiveModel> CollectivesOf(const std::string& name, Diagnostics& diagnostics) {
  const auto parameters = Parameters(diagnostics);
  const auto path = Unwrap(hardware::FindPreset(hardware::PresetKind::kSystem, name), diagnostics);
  if (!parameters || !path) return std::nullopt;
  if (const auto device_name = DeviceOf(*path)) {
    const auto device = hardware::LoadDevice(*device_name, diagnostics);
    if (!device) return std::nullopt;
    return calibrated::CollectiveModel(*device, *parameters);
  }
  const auto system = Unwrap(hardware::LoadSystem(path->string(), {}, diagnostics), diagnostics);
  if (!system) return std::nullopt;
  return calibrated::CollectiveModel(PortsOf(*system), *parameters);
}

std::optional<report::Table> WithPredictions(CsvTable table, Result<calibrated::Predictions> predictions,
                                             Diagnostics& diagnostics) {
  const auto values = Unwrap(std::move(predictions), diagnostics);
  if (!values) return std::nullopt;
  calibrated::AddPredictions(table, *values);
  return ToReport(std::move(table));
}

}  // namespace

std::optional<report::Table> EstimateKernelTable(const std::string& file, const std::string& device,
                                                 Diagnostics& diagnostics) {
  const auto figures = hardware::LoadDevice(device, diagnostics);
  const auto parameters = Parameters(diagnostics);
  const auto table = figures && parameters ? ReadTable(file, diagnostics) : std::nullopt;
  if (!table) return std::nullopt;
  const calibrated::KernelModel model(*figures, *parameters);
  return WithPredictions(*table, calibrated::PredictKernels(*table, file, model, diagnostics), diagnostics);
}

std::optional<report::Table> EstimateCollectiveTable(const std::string& file, const std::string& system,
                                                     Diagnostics& diagnostics) {
  const auto model = CollectivesOf(system, diagnostics);
  const auto table = model ? ReadTable(file, diagnostics) : std::nullopt;
  if (!table) return std::nullopt;
  return WithPredictions(*table, calibrated::PredictCollectives(*table, file, *model, diagnostics), diagnostics);
}

}  // namespace hespas::driver
