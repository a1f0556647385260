#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "driver/configuration/presets.h"
#include "driver/inspect/tables/preset_tables.h"
#include "driver/stages/system.h"
#include "hardware/cluster.h"
#include "hardware/device.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

using report::Align;
using report::Table;

constexpr double kBinaryGiga = 1073741824.0;  // a system's GB/s; the tables show those of 10^9

std::string Dimensions(const hardware::System& system, const auto& render) {
  std::string out;
  for (const auto& dimension : system.dimensions) out += (out.empty() ? "" : ", ") + render(dimension);
  return out;
}

std::string TopologyName(const hardware::NetworkDimension& d) {
  constexpr std::string_view kNames[] = {"Ring", "FullyConnected", "Switch"};
  if (d.open) return "Line";
  return std::string(kNames[static_cast<size_t>(d.kind)]);
}

// As the file or the line says it; where neither does, the kinds of links tell, and there is no such row.
std::string CarrierName(const hardware::NetworkDimension& d) {
  if (d.tcp) return "TCP between hosts";
  return d.between_hosts ? "adapters between hosts" : "links of a host";
}

// What the preset's file names as the origin of its figures; a folder of ASTRA-sim's files names itself.
std::string SourceOf(const std::string& name) {
  if (hardware::IsClusterText(name)) return "given in one line; the vendor's figures where it is silent";
  const auto path = hardware::FindPreset(hardware::PresetKind::kSystem, name);
  if (!path) return {};
  const auto text = ReadInput(path->string());
  const auto json = text ? ParseJson(*text, path->string()) : Result<nlohmann::json>(text.error());
  const bool named = json && json->is_object() && json->contains("source") && json->at("source").is_string();
  return named ? json->at("source").get<std::string>() : path->string();
}

std::vector<std::string> SystemRow(const std::string& name, const hardware::System& system) {
  return {name,
          std::to_string(system.npus()),
          Dimensions(system, TopologyName),
          Dimensions(system, [](const auto& d) { return std::to_string(d.npus); }),
          Dimensions(system, [](const auto& d) { return fmt::format("{:.6g}", d.bandwidth * kBinaryGiga / 1e9); }),
          Dimensions(system, [](const auto& d) { return fmt::format("{:g}", d.latency); })};
}

Table Figures(const std::string& name, const hardware::System& system, const std::string& source) {
  Table table{.columns = {{"figure"}, {"value"}, {"source"}}, .rows = {}};
  const std::vector<std::string> row = SystemRow(name, system);
  const char* const names[] = {"name", "npus", "topology", "npus_count", "bandwidth (GB/s)", "latency (ns)"};
  const auto add = [&](const char* figure, std::string value) {
    table.rows.push_back({figure, std::move(value), source});
  };
  for (size_t i = 0; i < row.size(); ++i) add(names[i], row[i]);
  const auto& dimensions = system.dimensions;
  if (std::any_of(dimensions.begin(), dimensions.end(), [](const auto& d) { return d.between_hosts; }))
    add("carried by", Dimensions(system, CarrierName));
  add("endpoint-delay (ns)", std::to_string(system.endpoint_delay.value_or(10)));
  add("active-chunks-per-dimension", std::to_string(system.active_chunks));
  add("preferred-dataset-splits", std::to_string(system.dataset_splits));
  add("local-mem-bw (GB/s)", fmt::format("{:g}", system.memory_bandwidth));
  return table;
}

}  // namespace

std::optional<Table> SystemTable(Diagnostics& diagnostics) {
  Table table{.columns = {{"name"},
                          {"NPUs", Align::kRight},
                          {"topology"},
                          {"NPUs per dimension"},
                          {"bandwidth GB/s"},
                          {"latency ns"},
                          {"source"}},
              .rows = {}};
  for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kSystem)) {
    const auto system = LoadSystemPreset(name, diagnostics);
    if (!system) return std::nullopt;
    table.rows.push_back(SystemRow(name, *system));
    table.rows.back().push_back(SourceOf(name));
  }
  return table;
}

std::optional<Table> SystemFigures(const std::string& name, Diagnostics& diagnostics) {
  const auto system = LoadSystemPreset(name, diagnostics);
  if (!system) return std::nullopt;
  return Figures(name, *system, SourceOf(name));
}

std::optional<Table> AutoSystemFigures(const std::string& device, size_t npus, Diagnostics& diagnostics) {
  const auto loaded = hardware::LoadDevice(device, diagnostics);
  if (!loaded) return std::nullopt;
  const auto system = SystemOfDevice(*loaded, npus, diagnostics);
  if (!system) return std::nullopt;
  return Figures(system->name, *system, fmt::format("--system auto for {} x {}", npus, loaded->name));
}

}  // namespace hespas::driver
