#include "validate/sets/field_kernels.h"

#include <map>

#include "estimate/field/rows.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace field = estimate::field;

constexpr double kLongUs = 20;  // from which a kernel's start matters little
constexpr const char* kLong = ", 20 us and more";

// "gemm bf16", "attention context", "moe bf16"
std::string FamilyOfRow(const CsvTable& table, size_t row) {
  const std::string op = CellText(table, row, "op");
  return op + " " + CellText(table, row, op == "attention" ? "phase" : "dtype");
}

}  // namespace

bool AddFieldKernels(Groups& groups, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("field_kernels.csv.gz", diagnostics);
  const auto& constants = field::DefaultConstants();
  if (!constants) diagnostics.Report(constants.error());
  if (!table || !constants) return false;
  std::map<std::string, CsvTable> tables;  // by device
  for (size_t row = 0; row < table->rows.size(); ++row) {
    CsvTable& own = tables[CellText(*table, row, "device")];
    own.columns = table->columns;
    own.rows.push_back(table->rows[row]);
    own.lines.push_back(table->lines[row]);
  }
  for (const auto& [name, rows] : tables) {
    const auto device = hardware::LoadDevice(name, diagnostics);
    if (!device) return false;
    const auto times = field::TimesOfRows(rows, *device, *constants);
    for (size_t row = 0; row < times.size(); ++row) {
      if (!times[row]) continue;
      const Comparison point{
          .measured = CellNumber(rows, row, "latency_us"), .predicted = times[row]->us, .sigma = times[row]->sigma_us};
      const std::string family = FamilyOfRow(rows, row);
      groups[{"field kernels", "shipped", name, family}].push_back(point);
      if (point.measured >= kLongUs) groups[{"field kernels", "shipped", name, family + kLong}].push_back(point);
    }
  }
  return true;
}

}  // namespace hespas::validate
