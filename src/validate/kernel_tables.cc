#include "validate/kernel_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "base/text/json.h"
#include "estimate/calibrated/fit/table.h"
#include "estimate/field/rows.h"
#include "estimate/native/genz.h"
#include "estimate/native/matrix_model.h"
#include "hardware/cluster.h"
#include "hardware/presets.h"
#include "hardware/system.h"
#include "validate/sets/stream_collectives.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;
namespace field = estimate::field;
namespace native = estimate::native;

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

native::GenzLink GenzLinkOf(const hardware::System& system) {
  if (system.dimensions.empty()) return {};
  const hardware::NetworkDimension& inner = system.dimensions.front();
  return {.bytes_per_second = inner.bandwidth * 1073741824.0, .latency_s = inner.latency * 1e-9};
}

struct NamedSystem {
  hardware::System system;
  std::optional<hardware::Device> device;  // whose links count, where the system names one
  calibrated::Ports ports;                 // else what its network says
  native::GenzLink link;
  bool assumed = false;  // the host of a device alone: nobody said what joins it to others
};

// The device that a description without a network names; nothing for any other.
std::optional<std::string> DeviceAlone(const std::filesystem::path& system) {
  const bool folder = std::filesystem::is_directory(system);
  if (folder && std::filesystem::exists(system / "network.yml")) return std::nullopt;
  const auto text = ReadInput(folder ? (system / "system.json").string() : system.string());
  const auto json = text ? ReadJson(*text) : nlohmann::json();
  if (!json.is_object() || json.contains("network") || json.contains("cluster")) return std::nullopt;
  const auto device = json.find("device");
  return device != json.end() && device->is_string() ? std::optional(device->get<std::string>()) : std::nullopt;
}

// A device alone has the links of its host.
std::optional<NamedSystem> HostOf(const std::string& device, Diagnostics& diagnostics) {
  NamedSystem named{.assumed = true};
  named.device = hardware::LoadDevice(device, diagnostics);
  if (!named.device) return std::nullopt;
  if (auto host = hardware::ReferenceCluster(*named.device, kHostRanks)) named.system = *std::move(host);
  return named;
}

std::optional<NamedSystem> FindSystem(const std::string& name, Diagnostics& diagnostics) {
  const auto path = hardware::FindPreset(hardware::PresetKind::kSystem, name);
  const auto device_alone = path ? DeviceAlone(*path) : std::nullopt;
  if (device_alone) return HostOf(*device_alone, diagnostics);
  auto system = Unwrap(hardware::LoadNamedSystem(name, {}, diagnostics), diagnostics);
  if (!system) return std::nullopt;
  NamedSystem named{.system = *std::move(system)};
  if (!named.system.device.empty()) {
    named.device = hardware::LoadDevice(named.system.device, diagnostics);
    return named.device ? std::optional(named) : std::nullopt;
  }
  named.ports = PortsOf(named.system);
  named.link = GenzLinkOf(named.system);
  return named;
}

std::optional<report::Table> WithPredictions(CsvTable table, Result<calibrated::Predictions> predictions,
                                             Diagnostics& diagnostics) {
  const auto values = Unwrap(std::move(predictions), diagnostics);
  if (!values) return std::nullopt;
  calibrated::AddPredictions(table, *values);
  return ToReport(std::move(table));
}

using KernelRule = std::function<calibrated::Prediction(const calibrated::KernelSpec&)>;

calibrated::Prediction Calibrated(const calibrated::KernelModel& model, const calibrated::KernelSpec& kernel) {
  const calibrated::KernelTime time = model.Time(kernel);
  return {.us = time.us, .sigma_us = time.sigma_us};
}

// The longer of arithmetic at peak rate and traffic at full bandwidth.
calibrated::Prediction Roofline(const calibrated::KernelModel& model, const calibrated::KernelSpec& kernel) {
  const calibrated::KernelTime time = model.Time(kernel);
  const double rate = model.machine().matrix_rate[static_cast<size_t>(kernel.type)];
  return {.us = std::max(rate > 0 ? time.flops / rate : 0, time.bytes / model.machine().memory_rate)};
}

KernelRule MatmulsBy(std::shared_ptr<const native::MatrixModel> matmuls, const calibrated::KernelModel& others) {
  return [matmuls = std::move(matmuls), &others](const calibrated::KernelSpec& kernel) {
    const auto matmul = native::AsMatmul(kernel);
    if (!matmul) return Calibrated(others, kernel);
    const native::MatrixCost cost = matmuls->Cost(*matmul);
    return calibrated::Prediction{.us = cost.seconds * 1e6, .cycles = cost.cycles, .exact = true};
  };
}

native::MadeModel MakeMatmuls(const TableModel& model, const hardware::Device& device) {
  if (model.estimator == "systolic") return native::MakeSystolic(device);
  if (model.estimator == "scalesim") return native::MakeScaleSim(device, model.dataflow);
  if (model.estimator == "genz") return native::MakeGenz(device);
  return MakeError(kNoTableModel, fmt::format("the estimator `{}` costs no tables", model.estimator), {},
                   "choose calibrated, roofline, systolic, scalesim or genz");
}

// `kernels` must outlive the rule.
Result<KernelRule> RuleOf(const TableModel& model, const hardware::Device& device,
                          const calibrated::KernelModel& kernels) {
  if (model.estimator == "calibrated") return KernelRule([&kernels](const auto& k) { return Calibrated(kernels, k); });
  if (model.estimator == "roofline") return KernelRule([&kernels](const auto& k) { return Roofline(kernels, k); });
  auto matmuls = MakeMatmuls(model, device);
  if (!matmuls) return matmuls.error();
  return MatmulsBy(*std::move(matmuls), kernels);
}

template <class Spec, class Rule>
Result<calibrated::Predictions> Predict(const Result<std::vector<std::optional<Spec>>>& specs, const Rule& rule) {
  if (!specs) return specs.error();
  calibrated::Predictions predictions;
  predictions.reserve(specs->size());
  for (const auto& spec : *specs) predictions.push_back(spec ? std::optional(rule(*spec)) : std::nullopt);
  return predictions;
}

// Rows of the field model, and a table of all others for the calibrated one.
std::optional<calibrated::Predictions> Measured(const CsvTable& table, const std::string& file,
                                                const hardware::Device& device, const KernelRule& rule,
                                                Diagnostics& diagnostics) {
  const auto constants = Unwrap(field::DefaultConstants(), diagnostics);
  if (!constants) return std::nullopt;
  if (!field::CheckDispatchRows(table, file, diagnostics)) return std::nullopt;
  const auto times = field::TimesOfRows(table, device, *constants);
  CsvTable others{.columns = table.columns};
  for (size_t row = 0; row < times.size(); ++row) {
    if (times[row]) continue;
    others.rows.push_back(table.rows[row]);
    others.lines.push_back(table.lines[row]);
  }
  auto predictions = Unwrap(Predict(calibrated::ReadKernels(others, file, diagnostics), rule), diagnostics);
  if (!predictions) return std::nullopt;
  calibrated::Predictions all;
  size_t next = 0;
  for (const auto& time : times) {
    all.push_back(time ? std::optional(calibrated::Prediction{.us = time->us, .sigma_us = time->sigma_us})
                       : (*predictions)[next++]);
  }
  return all;
}

using CollectiveSpecs = std::vector<std::optional<calibrated::CollectiveSpec>>;

// Rows whose group spans a level that the described system lacks have no prediction; a warning names the first row
// that has none for that reason. `PredictStreams` leaves out its own rows, those of an assumed host, too.
void LeaveOutMissingLevels(const CsvTable& table, const std::string& file, const CollectiveSpecs& specs,
                           const NamedSystem& named, calibrated::Predictions& predictions, Diagnostics& diagnostics) {
  bool warned = false;
  for (size_t row = 0; row < specs.size(); ++row) {
    if (!specs[row] || specs[row]->ranks <= static_cast<double>(named.system.npus())) continue;
    if (!named.assumed) predictions[row].reset();
    if (predictions[row] || std::exchange(warned, true)) continue;
    diagnostics.Warning(calibrated::kNoPrediction,
                        fmt::format("a group of {:g} is larger than `{}`, which joins {} devices", specs[row]->ranks,
                                    named.system.name, named.system.npus()),
                        {.file = file, .line = static_cast<size_t>(table.lines[row])},
                        "give `--system` a further level, as \"H100_80GB 8x64 ib=400Gbit/s\" has");
  }
}

}  // namespace

std::optional<report::Table> EstimateKernelTable(const std::string& file, const std::string& device,
                                                 const TableModel& model, Diagnostics& diagnostics) {
  const auto figures = hardware::LoadDevice(device, diagnostics);
  const auto parameters = Parameters(diagnostics);
  const auto table = figures && parameters ? ReadTable(file, diagnostics) : std::nullopt;
  if (!table) return std::nullopt;
  const calibrated::KernelModel kernels(*figures, *parameters);
  const auto rule = Unwrap(RuleOf(model, *figures, kernels), diagnostics);
  if (!rule) return std::nullopt;
  if (model.estimator == "calibrated") {
    auto predictions = Measured(*table, file, *figures, *rule, diagnostics);
    return predictions ? WithPredictions(*table, *std::move(predictions), diagnostics) : std::nullopt;
  }
  return WithPredictions(*table, Predict(calibrated::ReadKernels(*table, file, diagnostics), *rule), diagnostics);
}

std::optional<report::Table> EstimateCollectiveTable(const std::string& file, const std::string& system,
                                                     const TableModel& model, Diagnostics& diagnostics) {
  const auto named = FindSystem(system, diagnostics);
  const auto parameters = Parameters(diagnostics);
  const auto table = named && parameters ? ReadTable(file, diagnostics) : std::nullopt;
  if (!table) return std::nullopt;
  const auto specs = calibrated::ReadCollectives(*table, file, diagnostics);
  if (model.estimator == "genz") {
    const native::GenzLink link = named->device ? native::GenzLinkOf(*named->device) : named->link;
    const auto rule = [&link](const calibrated::CollectiveSpec& spec) {
      return calibrated::Prediction{.us = native::GenzCollective(link, spec) * 1e6, .exact = true};
    };
    return WithPredictions(*table, Predict(specs, rule), diagnostics);
  }
  const calibrated::Parameters shared = named->ports.mesh ? calibrated::OnMesh(*parameters) : *parameters;
  const calibrated::CollectiveModel links = named->device ? calibrated::CollectiveModel(*named->device, *parameters)
                                                          : calibrated::CollectiveModel(named->ports, shared);
  const auto rule = [&links](const calibrated::CollectiveSpec& spec) {
    const calibrated::CollectiveTime time = links.Time(spec);
    return calibrated::Prediction{.us = time.us, .sigma_us = time.sigma_us};
  };
  auto predictions = Predict(specs, rule);
  if (!predictions) return WithPredictions(*table, predictions.error(), diagnostics);
  const hardware::Device device = named->device.value_or(hardware::Device{});
  if (Status priced = PredictStreams(*table, *specs, device, named->system, *predictions); !priced) {
    diagnostics.Report(priced.error());
    return std::nullopt;
  }
  LeaveOutMissingLevels(*table, file, *specs, *named, *predictions, diagnostics);
  return WithPredictions(*table, *std::move(predictions), diagnostics);
}

}  // namespace hespas::validate
