#include "report/text/unit_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace hespas::report {
namespace {

constexpr std::string_view kTimes[] = {"ps", "ns", "us", "ms", "s"};
constexpr std::string_view kSizes[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
constexpr std::string_view kCounts[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
constexpr double kStep = 1000;

template <class Quantity>
UnitColumn Make(const std::string& name, const std::vector<Quantity>& values, std::span<const std::string_view> units) {
  double largest = 0;
  for (const Quantity value : values) largest = std::max(largest, std::abs(static_cast<double>(value.value)));
  size_t unit = 0;
  double scale = 1;
  for (; unit + 1 < units.size() && largest / scale >= kStep; ++unit) scale *= kStep;
  const int digits = unit == 0 ? 0 : largest / scale >= 100 ? 1 : largest / scale >= 10 ? 2 : 3;
  UnitColumn out{.column = {fmt::format("{} [{}]", name, units[unit]), Align::kRight}, .cells = {}};
  for (const Quantity value : values)
    out.cells.push_back(fmt::format("{:.{}f}", static_cast<double>(value.value) / scale, digits));
  return out;
}

}  // namespace

UnitColumn TimeColumn(const std::string& name, const std::vector<Time>& times) { return Make(name, times, kTimes); }
UnitColumn BytesColumn(const std::string& name, const std::vector<Bytes>& sizes) { return Make(name, sizes, kSizes); }
UnitColumn FlopsColumn(const std::string& name, const std::vector<Flops>& counts) {
  return Make(name, counts, kCounts);
}

void AddColumn(Table& table, UnitColumn column) {
  if (table.columns.empty()) table.rows.resize(column.cells.size());
  table.columns.push_back(std::move(column.column));
  for (size_t i = 0; i < table.rows.size(); ++i) table.rows[i].push_back(std::move(column.cells[i]));
}

}  // namespace hespas::report
