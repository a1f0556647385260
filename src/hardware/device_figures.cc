#include "hardware/device_figures.h"

#include <fmt/format.h>

#include "base/text/suggest.h"
#include "base/text/unit_text.h"

namespace hespas::hardware {
namespace {

constexpr std::string_view kTable = "per_datatype_flops.";

struct FigureRow {
  std::string_view name;
  Unit unit;
  void (*set)(Device&, double);
};

constexpr FigureRow kFigures[] = {
    {"peak_flops", Unit::kFlopsPerSecond, [](Device& d, double v) { d.peak_flops = {v}; }},
    {"memory_bandwidth", Unit::kBytesPerSecond, [](Device& d, double v) { d.memory_bandwidth = {v}; }},
    {"tdp", Unit::kWatts, [](Device& d, double v) { d.tdp_w = v; }},
    {"hbm_power_ratio", Unit::kNumber, [](Device& d, double v) { d.hbm_power_ratio = v; }},
};

// What the tables say of a datatype no longer holds where its rate is given.
void SetRate(const std::string& datatype, double rate, Device& device) {
  device.per_datatype_flops[datatype] = {rate};
  device.matrix_flops.erase(datatype);
  device.vector_flops.erase(datatype);
}

}  // namespace

Result<DeviceFigure> ParseFigure(std::string name, std::string_view text, std::string origin) {
  Unit unit = Unit::kFlopsPerSecond;
  bool known = name.starts_with(kTable) && name.size() > kTable.size();
  std::vector<std::string> names;
  for (const FigureRow& row : kFigures) {
    names.emplace_back(row.name);
    if (row.name != name) continue;
    known = true;
    unit = row.unit;
  }
  if (!known) {
    return MakeError(kUnknownFigure, fmt::format("`{}` is no figure that can be given here", name), {},
                     DidYouMean(name, names, "for example memory_bandwidth or per_datatype_flops.bf16"));
  }
  const auto value = ParseQuantity(text, unit);
  if (!value) return value.error();
  if (!(*value > 0)) return MakeError(kBadQuantity, fmt::format("`{}` must be more than 0, not {}", name, text));
  return DeviceFigure{std::move(name), *value, std::move(origin)};
}

void ApplyFigures(const DeviceFigures& figures, Device& device) {
  for (const DeviceFigure& figure : figures) {
    if (figure.name.starts_with(kTable)) SetRate(figure.name.substr(kTable.size()), figure.value, device);
    for (const FigureRow& row : kFigures) {
      if (row.name == figure.name) row.set(device, figure.value);
    }
    device.sources[figure.name] = figure.origin;
  }
}

}  // namespace hespas::hardware
