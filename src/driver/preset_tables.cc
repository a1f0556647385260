#include "driver/preset_tables.h"

#include <fmt/format.h>

#include "hardware/presets.h"

namespace hespas::driver {
namespace {

using report::Align;
using report::Table;

std::string Optional(const auto& value, const auto& render) { return value ? render(*value) : std::string("-"); }

std::string Rate(const hardware::Device& device, std::string_view datatype) {
  return device.Knows(datatype) ? fmt::format("{:g}", device.RateFor(datatype).value / 1e12) : std::string("-");
}

std::string Gigabytes(Bytes bytes) { return fmt::format("{:g}", static_cast<double>(bytes.value) / 1e9); }

}  // namespace

std::optional<Table> DeviceTable(Diagnostics& diagnostics) {
  if (const auto folder = hardware::DataFolder(); !folder) {
    diagnostics.Report(folder.error());
    return std::nullopt;
  }
  Table table{.columns = {{"name"},
                          {"bf16 TFLOP/s", Align::kRight},
                          {"f32 TFLOP/s", Align::kRight},
                          {"memory GB/s", Align::kRight},
                          {"memory GB", Align::kRight},
                          {"TDP W", Align::kRight}},
              .rows = {}};
  for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kDevice)) {
    const auto device = hardware::LoadDevice(name, diagnostics);
    if (!device) return std::nullopt;
    const std::string f16 = Rate(*device, device->Knows("bf16") ? "bf16" : "f16");
    table.rows.push_back({name, f16, Rate(*device, "f32"), fmt::format("{:g}", device->memory_bandwidth.value / 1e9),
                          Optional(device->memory_capacity, Gigabytes),
                          Optional(device->tdp_w, [](double w) { return fmt::format("{:g}", w); })});
  }
  return table;
}

std::optional<Table> DeviceFigures(const std::string& name, Diagnostics& diagnostics) {
  const auto device = hardware::LoadDevice(name, diagnostics);
  if (!device) return std::nullopt;
  Table table{.columns = {{"figure"}, {"value", Align::kRight}, {"unit"}, {"source"}}, .rows = {}};
  const auto add = [&](std::string figure, double value, std::string unit) {
    const std::string source(device->SourceOf(figure));
    table.rows.push_back({std::move(figure), fmt::format("{:g}", value), std::move(unit), source});
  };
  const auto maybe = [&](std::string figure, const auto& value, double scale, std::string unit) {
    if (value) add(std::move(figure), *value / scale, std::move(unit));
  };
  const auto count = [&](std::string figure, const auto& value, double scale, std::string unit) {
    if (value) add(std::move(figure), static_cast<double>(value->value) / scale, std::move(unit));
  };
  add("peak_flops", device->peak_flops.value / 1e12, "TFLOP/s");
  for (const auto& [type, rate] : device->per_datatype_flops) {
    table.rows.push_back({"per_datatype_flops." + type, fmt::format("{:g}", rate.value / 1e12), "TFLOP/s",
                          std::string(device->SourceOf("per_datatype_flops." + type))});
  }
  add("memory_bandwidth", device->memory_bandwidth.value / 1e9, "GB/s");
  count("memory_capacity", device->memory_capacity, 1e9, "GB");
  count("l2_capacity", device->l2_capacity, 1e6, "MB");
  maybe("sm_count", device->sm_count, 1, "");
  maybe("lanes_per_sm", device->lanes_per_sm, 1, "");
  maybe("clock_hz", device->clock_hz, 1e9, "GHz");
  maybe("tdp_w", device->tdp_w, 1, "W");
  maybe("idle_w", device->idle_w, 1, "W");
  if (device->interconnect) {
    table.rows.push_back({"interconnect", fmt::format("{:g}", device->interconnect->bandwidth.value / 1e9), "GB/s",
                          device->interconnect->name});
  }
  return table;
}

}  // namespace hespas::driver
