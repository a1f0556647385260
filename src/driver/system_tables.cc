#include <fmt/format.h>

#include "driver/preset_tables.h"
#include "driver/presets.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

using report::Align;
using report::Table;

std::string Dimensions(const hardware::System& system, const auto& render) {
  std::string out;
  for (const auto& dimension : system.dimensions) out += (out.empty() ? "" : ", ") + render(dimension);
  return out;
}

std::string TopologyName(const hardware::NetworkDimension& d) {
  constexpr std::string_view kNames[] = {"Ring", "FullyConnected", "Switch"};
  return std::string(kNames[static_cast<size_t>(d.kind)]);
}

std::vector<std::string> SystemRow(const std::string& name, const hardware::System& system) {
  return {name,
          std::to_string(system.npus()),
          Dimensions(system, TopologyName),
          Dimensions(system, [](const auto& d) { return std::to_string(d.npus); }),
          Dimensions(system, [](const auto& d) { return fmt::format("{:g}", d.bandwidth); }),
          Dimensions(system, [](const auto& d) { return fmt::format("{:g}", d.latency); })};
}

}  // namespace

std::optional<Table> SystemTable(Diagnostics& diagnostics) {
  Table table{
      .columns =
          {{"name"}, {"NPUs", Align::kRight}, {"topology"}, {"NPUs per dimension"}, {"bandwidth GB/s"}, {"latency ns"}},
      .rows = {}};
  for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kSystem)) {
    const auto system = LoadSystemPreset(name, diagnostics);
    if (!system) return std::nullopt;
    table.rows.push_back(SystemRow(name, *system));
  }
  return table;
}

std::optional<Table> SystemFigures(const std::string& name, Diagnostics& diagnostics) {
  const auto system = LoadSystemPreset(name, diagnostics);
  if (!system) return std::nullopt;
  Table table{.columns = {{"figure"}, {"value"}}, .rows = {}};
  const std::vector<std::string> row = SystemRow(name, *system);
  const char* const names[] = {"name", "npus", "topology", "npus_count", "bandwidth (GB/s)", "latency (ns)"};
  for (size_t i = 0; i < row.size(); ++i) table.rows.push_back({names[i], row[i]});
  table.rows.push_back({"endpoint-delay (ns)", std::to_string(system->endpoint_delay.value_or(10))});
  table.rows.push_back({"active-chunks-per-dimension", std::to_string(system->active_chunks)});
  table.rows.push_back({"preferred-dataset-splits", std::to_string(system->dataset_splits)});
  table.rows.push_back({"local-mem-bw (GB/s)", fmt::format("{:g}", system->memory_bandwidth)});
  return table;
}

}  // namespace hespas::driver
