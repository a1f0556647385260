#include "validate/measured_calls.h"

#include "estimate/calibrated/fit/table.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace field = estimate::field;

void AddColumn(CsvTable& table, const std::string& name, const std::string& value) {
  if (table.Column(name)) return;
  table.columns.push_back(name);
  for (auto& row : table.rows) row.push_back(value);
}

void WarnOfOthers(size_t others, const std::string& file, Diagnostics& diagnostics) {
  diagnostics.Warning(estimate::calibrated::kNoPrediction,
                      fmt::format("{} rows are no matmul, attention or layer of experts inside a graph, with its sizes "
                                  "and `latency_us`; they are left out",
                                  others),
                      {.file = file});
}

}  // namespace

std::optional<std::vector<field::DeviceCalls>> MeasuredCalls(const std::string& file, Diagnostics& diagnostics) {
  auto table = LoadMeasured(file, diagnostics);
  const auto& constants = field::DefaultConstants();
  if (!constants) diagnostics.Report(constants.error());
  if (!table || !constants) return std::nullopt;
  std::vector<field::DeviceCalls> measured;
  if (!table->Column("device") || !table->Column("latency_us")) return measured;
  AddColumn(*table, "op", table->Column("phase") ? "attention" : table->Column("inter") ? "moe" : "gemm");
  AddColumn(*table, "timing", "graph");
  size_t others = 0;
  for (const auto& [name, rows] : ByDevice(*table, "device")) {
    const auto device = hardware::LoadDevice(PresetOf(name), diagnostics);
    if (!device) return std::nullopt;
    const auto calls = field::CallsOfRows(rows, *constants);
    field::DeviceCalls own{.device = *device, .calls = {}};
    for (size_t row = 0; row < calls.size(); ++row) {
      const double us = CellNumber(rows, row, "latency_us");
      if (calls[row] && us > 0) own.calls.push_back({.call = *calls[row], .us = us});
    }
    others += calls.size() - own.calls.size();
    if (!own.calls.empty()) measured.push_back(std::move(own));
  }
  if (others > 0 && !measured.empty()) WarnOfOthers(others, file, diagnostics);
  return measured;
}

}  // namespace hespas::validate
