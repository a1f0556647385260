#include "validate/measured_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/system/file.h"
#include "estimate/calibrated/fit/table.h"
#include "hardware/presets.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

struct Stand {
  std::string_view part;  // of the measured name's letters and digits
  std::string_view preset;
};
// The first entry whose part occurs in the name counts.
constexpr Stand kDevices[] = {{"sm100gb200", "GB200_192GB"},
                              {"sm90", "H100_80GB"},
                              {"sm100", "B200_180GB"},
                              {"sm107", "Rubin_288GB"},
                              {"gfx942", "MI300X"},
                              {"gfx950", "MI355X_288GB"},
                              {"a100pcie40", "A100_PCIe_40GB"},
                              {"a10080gbpcie", "A100_PCIe_80GB"},
                              {"a100pcie80", "A100_PCIe_80GB"},
                              {"a100sxm480", "A100_SXM_80GB"},
                              {"v100pcie32", "V100_PCIe_32GB"},
                              {"p100pcie16", "P100_16GB"},
                              {"nvidiah100", "H100_80GB"},
                              {"teslat4", "T4_16GB"},
                              {"nvidial4", "L4_24GB"},
                              {"teslap4", "P4_8GB"},
                              {"mi100", "MI100_32GB"},
                              {"mi210", "MI210_64GB"},
                              {"mi250", "MI250_128GB"}};

// Of the training split of a source: its kernels are small, and only the test split's sizes are those of models.
constexpr double kTrainingWeight = 0.1;
constexpr size_t kTrainingStride = 5;  // of those rows, each fifth represents five

// What kernel names say of a library, how many devices a host has, and how far two campaigns on a board lie apart: not
// fitted.
bool IsFitted(std::string_view constant) {
  return constant != "bmm.smallest_tile" && constant != "collective.devices_per_host" &&
         !constant.ends_with(".campaign_sigma");
}

}  // namespace

std::optional<CsvTable> LoadMeasured(const std::string& name, Diagnostics& diagnostics) {
  const auto folder = hardware::DataFolder();
  if (!folder) {
    diagnostics.Report(folder.error());
    return std::nullopt;
  }
  const std::string file = name.find('/') == std::string::npos ? (*folder / "measured" / name).string() : name;
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

std::string PresetOf(std::string_view measured) {
  std::string letters;
  for (const char c : measured) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const Stand& stand : kDevices) {
    if (letters.find(stand.part) != std::string::npos) return std::string(stand.preset);
  }
  return std::string(measured);
}

double CellNumber(const CsvTable& table, size_t row, std::string_view column) {
  const auto index = table.Column(column);
  return index ? CsvNumber(table.rows[row][*index]).value_or(0) : 0;
}

std::string CellText(const CsvTable& table, size_t row, std::string_view column) {
  const auto index = table.Column(column);
  return index ? table.rows[row][*index] : "";
}

void AddDispatch(CsvTable& table) {
  std::map<std::string, double> floor;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double us = CellNumber(table, row, "latency_us");
    auto [entry, fresh] = floor.emplace(CellText(table, row, "op"), us);
    if (!fresh) entry->second = std::min(entry->second, us);
  }
  table.columns.push_back("dispatch_us");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const double us = floor[CellText(table, row, "op")];
    table.rows[row].push_back(fmt::format("{}", us));
  }
}

std::map<std::string, std::map<std::string, double>> DispatchFloors(Diagnostics& diagnostics) {
  std::map<std::string, std::map<std::string, double>> floors;
  const auto table = LoadMeasured("kernels.csv.gz", diagnostics);
  for (size_t row = 0; table && row < table->rows.size(); ++row) {
    const double us = CellNumber(*table, row, "latency_us");
    auto [entry, fresh] = floors[PresetOf(CellText(*table, row, "gpu"))].emplace(CellText(*table, row, "op"), us);
    if (!fresh) entry->second = std::min(entry->second, us);
  }
  return floors;
}

hardware::Device WithoutOwnConstants(hardware::Device device) {
  std::erase_if(device.calibration, [](const auto& entry) { return IsFitted(entry.first); });
  return device;
}

std::optional<std::vector<calibrated::DeviceKernels>> MeasuredKernels(const std::string& file,
                                                                      Diagnostics& diagnostics) {
  const auto table = LoadMeasured(file, diagnostics);
  if (!table) return std::nullopt;
  std::vector<calibrated::DeviceKernels> measured;
  for (auto& [name, part] : ByDevice(*table, "gpu")) {
    AddDispatch(part);
    const auto device = hardware::LoadDevice(PresetOf(name), diagnostics);
    const auto kernels = calibrated::ReadKernels(part, file, diagnostics);
    if (!device || !kernels) return std::nullopt;
    calibrated::DeviceKernels own{.device = WithoutOwnConstants(*device), .kernels = {}};
    for (size_t row = 0; row < kernels->size(); ++row) {
      if (!(*kernels)[row]) continue;
      const bool test = CellText(part, row, "split") == "test";
      if (!test && row % kTrainingStride != 0) continue;
      own.kernels.push_back({.kernel = *(*kernels)[row],
                             .us = CellNumber(part, row, "latency_us"),
                             .weight = test ? 1 : kTrainingStride * kTrainingWeight});
    }
    measured.push_back(std::move(own));
  }
  return measured;
}

std::optional<std::vector<calibrated::DeviceCollectives>> MeasuredCollectives(const std::string& file,
                                                                              Diagnostics& diagnostics) {
  const auto table = LoadMeasured(file, diagnostics);
  if (!table) return std::nullopt;
  std::vector<calibrated::DeviceCollectives> measured;
  for (const auto& [name, part] : ByDevice(*table, "key")) {
    const auto device = hardware::LoadDevice(PresetOf(name), diagnostics);
    if (!device) return std::nullopt;
    calibrated::DeviceCollectives own{.device = WithoutOwnConstants(*device), .collectives = {}};
    for (size_t row = 0; row < part.rows.size(); ++row) {
      const auto op = calibrated::ParseCollective(CellText(part, row, "op"));
      const double us = CellNumber(part, row, "t_us");
      if (!op || !(us > 0)) continue;
      own.collectives.push_back(
          {.collective = {.op = *op, .ranks = CellNumber(part, row, "N"), .bytes = CellNumber(part, row, "bytes")},
           .us = us});
    }
    if (!own.collectives.empty()) measured.push_back(std::move(own));
  }
  return measured;
}

}  // namespace hespas::validate
