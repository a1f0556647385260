#include "driver/measured_sets.h"

#include <algorithm>
#include <cmath>

#include "base/csv_text.h"
#include "base/file.h"
#include "estimate/calibrated/table.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;

struct Stand {
  std::string_view measured;
  std::string_view preset;
};
// Which preset stands for which measured device.
constexpr Stand kDevices[] = {{"sm_90", "H100_80GB"},
                              {"gfx942", "MI300X"},
                              {"sm_100_GB200", "GB200_192GB"},
                              {"NVIDIA A100-PCIE-40GB", "A100_PCIe_40GB"},
                              {"NVIDIA_A100-PCIE-40GB", "A100_PCIe_40GB"},
                              {"Tesla V100-PCIE-32GB", "V100_PCIe_32GB"},
                              {"Tesla_V100-PCIE-32GB", "V100_PCIe_32GB"},
                              {"Tesla P100-PCIE-16GB", "P100_16GB"},
                              {"Tesla_P100-PCIE-16GB", "P100_16GB"},
                              {"Tesla T4", "T4_16GB"}};

constexpr double kLaunchUs = 5;  // the constant of "roofline and a constant", where the host's is not known

std::optional<CsvTable> Load(const std::string& name, Diagnostics& diagnostics) {
  const auto folder = hardware::DataFolder();
  if (!folder) {
    diagnostics.Report(folder.error());
    return std::nullopt;
  }
  const std::string file = (*folder / "measured" / name).string();
  const auto text = ReadInput(file);
  if (!text) {
    diagnostics.Report(text.error());
    return std::nullopt;
  }
  auto table = ParseCsv(*text, file);
  if (!table) {
    diagnostics.Report(table.error());
    return std::nullopt;
  }
  return *std::move(table);
}

// Rows of a table by the measured device they belong to.
std::map<std::string, CsvTable> ByDevice(const CsvTable& table, std::string_view column) {
  std::map<std::string, CsvTable> parts;
  const auto key = table.Column(column);
  if (!key) return parts;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    CsvTable& part = parts[table.rows[row][*key]];
    part.columns = table.columns;
    part.rows.push_back(table.rows[row]);
    part.lines.push_back(table.lines[row]);
  }
  return parts;
}

std::string_view PresetOf(std::string_view measured) {
  for (const Stand& stand : kDevices) {
    if (stand.measured == measured) return stand.preset;
  }
  return measured;
}

double Cell(const CsvTable& table, size_t row, std::string_view column) {
  const auto index = table.Column(column);
  return index ? CsvNumber(table.rows[row][*index]).value_or(0) : 0;
}

std::string Text(const CsvTable& table, size_t row, std::string_view column) {
  const auto index = table.Column(column);
  return index ? table.rows[row][*index] : "";
}

// Datasheet peak and bandwidth, nothing else.
double Roofline(const calibrated::KernelSpec& kernel, const calibrated::KernelTime& time,
                const calibrated::Machine& machine) {
  const auto type = static_cast<size_t>(kernel.type);
  const bool product = time.store_us > 0 || kernel.k > 0;
  const double peak = machine.tensor[type] ? machine.matrix_rate[type] : machine.vector_rate[type];
  return std::max(product ? time.flops / peak : 0.0, time.bytes / machine.memory_rate);
}

struct Device {
  hardware::Device figures;
  calibrated::KernelModel model;
};

std::optional<Device> LoadModel(std::string_view measured, Diagnostics& diagnostics) {
  auto figures = hardware::LoadDevice(std::string(PresetOf(measured)), diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!parameters) diagnostics.Report(parameters.error());
  if (!figures || !parameters) return std::nullopt;
  calibrated::KernelModel model(*figures, *parameters);
  return Device{.figures = *std::move(figures), .model = std::move(model)};
}

Comparison Compare(const calibrated::KernelSpec& kernel, const Device& device, double measured, double constant) {
  const calibrated::KernelTime time = device.model.Time(kernel);
  const double roofline = Roofline(kernel, time, device.model.machine());
  return {.measured = measured,
          .predicted = time.us,
          .sigma = time.sigma_us,
          .roofline = roofline,
          .roofline_constant = roofline + constant};
}

constexpr std::string_view kElementwise[] = {"add",  "mul",  "div",  "pow",  "addu", "mulu",
                                             "divu", "powu", "relu", "gelu", "tanh"};

std::string OpClass(const std::string& op) {
  const bool elementwise = std::find(std::begin(kElementwise), std::end(kElementwise), op) != std::end(kElementwise);
  return elementwise ? "elementwise" : op;
}

// The smallest latency of each op: what one eager call costs on that host (measured/README.md).
void AddDispatch(CsvTable& table) {
  std::map<std::string, double> floor;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double us = Cell(table, row, "latency_us");
    auto [entry, fresh] = floor.emplace(Text(table, row, "op"), us);
    if (!fresh) entry->second = std::min(entry->second, us);
  }
  table.columns.push_back("dispatch_us");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double us = floor[Text(table, row, "op")];
    table.rows[row].push_back(fmt::format("{}", us));
  }
}

}  // namespace

bool AddGemms(Groups& groups, Diagnostics& diagnostics) {
  const auto table = Load("gemm.csv", diagnostics);
  if (!table) return false;
  for (const auto& [measured, part] : ByDevice(*table, "key")) {
    const auto device = LoadModel(measured, diagnostics);
    const auto kernels = calibrated::ReadKernels(part, "gemm.csv", diagnostics);
    if (!device || !kernels) return false;
    for (size_t row = 0; row < part.rows.size(); ++row) {
      const auto& kernel = (*kernels)[row];
      const double us = Cell(part, row, "latency_us");
      const std::string type = kernel ? std::string(calibrated::Entry(kernel->type).name) : "?";
      groups[{"gemm", device->figures.name, type}].push_back(kernel ? Compare(*kernel, *device, us, kLaunchUs)
                                                                    : Comparison{.measured = us});
    }
  }
  return true;
}

bool AddKernels(Groups& groups, Diagnostics& diagnostics) {
  const auto table = Load("kernels.csv.gz", diagnostics);
  if (!table) return false;
  for (auto& [measured, part] : ByDevice(*table, "gpu")) {
    AddDispatch(part);
    const auto device = LoadModel(measured, diagnostics);
    const auto kernels = calibrated::ReadKernels(part, "kernels.csv.gz", diagnostics);
    if (!device || !kernels) return false;
    for (size_t row = 0; row < part.rows.size(); ++row) {
      const auto& kernel = (*kernels)[row];
      const double us = Cell(part, row, "latency_us");
      const std::string set = Text(part, row, "split") == "test" ? "kernels" : "kernels (training split)";
      groups[{set, device->figures.name, OpClass(Text(part, row, "op"))}].push_back(
          kernel ? Compare(*kernel, *device, us, kernel->dispatch_us) : Comparison{.measured = us});
    }
  }
  return true;
}

bool AddCollectives(Groups& groups, Diagnostics& diagnostics) {
  constexpr double kMiB = 1024.0 * 1024;
  const auto table = Load("collectives.csv", diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!table || !parameters) return false;
  for (const auto& [measured, part] : ByDevice(*table, "key")) {
    const auto device = hardware::LoadDevice(std::string(PresetOf(measured)), diagnostics);
    if (!device) return false;
    const calibrated::CollectiveModel model(*device, *parameters);
    const auto predictions = calibrated::PredictCollectives(part, "collectives.csv", model, diagnostics);
    if (!predictions) return false;
    for (size_t row = 0; row < part.rows.size(); ++row) {
      const double bytes = Cell(part, row, "bytes");
      const std::string size = bytes > 64 * kMiB ? "above 64 MiB" : bytes > kMiB ? "1-64 MiB" : "up to 1 MiB";
      const auto& prediction = (*predictions)[row];
      const double wire = Cell(part, row, "V") / model.ports().rate;
      groups[{"collectives", device->name, size}].push_back({.measured = Cell(part, row, "t_us"),
                                                             .predicted = prediction ? prediction->us : 0,
                                                             .sigma = prediction ? prediction->sigma_us : 0,
                                                             .roofline = wire,
                                                             .roofline_constant = wire + kLaunchUs});
    }
  }
  return true;
}

bool AddModels(Groups&, Diagnostics&) { return true; }

}  // namespace hespas::driver
