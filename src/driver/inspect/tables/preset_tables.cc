#include "driver/inspect/tables/preset_tables.h"

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
  const auto add = [&](const std::string& figure, double value, std::string unit) {
    table.rows.push_back({figure, fmt::format("{:g}", value), std::move(unit), std::string(device->SourceOf(figure))});
  };
  const auto maybe = [&](const std::string& figure, const auto& value, double scale, std::string unit) {
    if (value) add(figure, *value / scale, std::move(unit));
  };
  const auto count = [&](const std::string& figure, const auto& value, double scale, std::string unit) {
    if (value) add(figure, static_cast<double>(value->value) / scale, std::move(unit));
  };
  const auto rates = [&](const std::string& figure, const hardware::RateTable& entries) {
    for (const auto& [type, rate] : entries) add(figure + "." + type, rate.value / 1e12, "TFLOP/s");
  };
  add("peak_flops", device->peak_flops.value / 1e12, "TFLOP/s");
  rates("per_datatype_flops", device->per_datatype_flops);
  rates("matrix_flops", device->matrix_flops);
  rates("vector_flops", device->vector_flops);
  add("memory_bandwidth", device->memory_bandwidth.value / 1e9, "GB/s");
  count("memory_capacity", device->memory_capacity, 1e9, "GB");
  count("l2_capacity", device->l2_capacity, 1024 * 1024, "MiB");
  count("shared_memory_per_sm", device->shared_memory_per_sm, 1024, "KiB");
  maybe("sm_count", device->sm_count, 1, "");
  maybe("lanes_per_sm", device->lanes_per_sm, 1, "");
  maybe("schedulers_per_sm", device->schedulers_per_sm, 1, "");
  maybe("special_lanes_per_sm", device->special_lanes_per_sm, 1, "");
  maybe("matrix_flops_per_clock", device->matrix_flops_per_clock, 1, "");
  maybe("clock", device->clock_hz, 1e9, "GHz");
  maybe("process_nm", device->process_nm, 1, "nm");
  maybe("tdp", device->tdp_w, 1, "W");
  maybe("idle_power", device->idle_w, 1, "W");
  if (device->price) add("price_per_hour", device->price->per_hour, device->price->currency);
  if (device->interconnect) add("interconnect", device->interconnect->bandwidth.value / 1e9, "GB/s");
  count("host_bandwidth", device->host_bandwidth, 1e9, "GB/s");
  if (device->systolic_array) add("systolic_array.clock", device->systolic_array->clock_hz / 1e9, "GHz");
  for (const auto& [constant, value] : device->calibration) add("calibration." + constant, value, "");
  return table;
}

}  // namespace hespas::driver
