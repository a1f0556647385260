#include "hardware/device.h"

#include <fmt/format.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"

namespace hespas::hardware {
namespace {

const FlopsPerSecond* Find(const RateTable& table, std::string_view datatype) {
  const auto found = table.find(datatype);
  return found == table.end() ? nullptr : &found->second;
}

std::optional<Bytes> ByteCount(JsonObject& object, const std::string& key) {
  const auto value = object.Quantity(key, Unit::kBytes, true);
  if (!value) return std::nullopt;
  return Bytes(internal::SaturatingRound(*value));
}

std::optional<BytesPerSecond> ByteRate(JsonObject& object, const std::string& key) {
  const auto value = object.Quantity(key, Unit::kBytesPerSecond, true);
  if (!value) return std::nullopt;
  return BytesPerSecond{*value};
}

std::optional<int> SmallCount(JsonObject& object, const std::string& key) {
  const auto value = object.Integer(key, 1, INT_MAX);
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

RateTable Rates(JsonObject& object, const std::string& key) {
  RateTable table;
  auto entries = object.Object(key);
  if (!entries) return table;
  for (const std::string& datatype : entries->Keys()) {
    if (const auto rate = entries->Quantity(datatype, Unit::kFlopsPerSecond, true)) table[datatype] = {*rate};
  }
  return table;
}

// A number (USD) or "2.5 EUR".
std::optional<Price> ReadPrice(JsonObject& device) {
  constexpr const char* kKey = "price_per_hour";
  const nlohmann::json* value = device.Raw(kKey);
  if (value == nullptr) return std::nullopt;
  const auto price = ParsePrice(value->is_string() ? value->get<std::string>() : value->dump());
  if (!price) {
    device.Report(kJsonBadValue, kKey, price.error().message, price.error().help);
    return std::nullopt;
  }
  return *price;
}

std::optional<Interconnect> ReadInterconnect(JsonObject& device) {
  auto object = device.Object("interconnect");
  if (!object) return std::nullopt;
  Interconnect ports;
  ports.name = object->Text("name").value_or("");
  ports.topology = object->Text("topology").value_or("switch");
  object->Require("bandwidth");
  ports.bandwidth = ByteRate(*object, "bandwidth").value_or(BytesPerSecond{});
  ports.links = SmallCount(*object, "links");
  if (const auto latency = object->Quantity("latency", Unit::kSeconds)) ports.latency = Time::Seconds(*latency);
  ports.in_network_reduction = object->Flag("in_network_reduction").value_or(false);
  ports.domain_size = SmallCount(*object, "domain_size");
  object->Finish();
  return ports;
}

template <class Value>
std::map<std::string, Value, std::less<>> Entries(JsonObject& device, const std::string& key) {
  std::map<std::string, Value, std::less<>> entries;
  auto object = device.Object(key);
  if (!object) return entries;
  for (const std::string& name : object->Keys()) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (auto text = object->Text(name)) entries[name] = std::move(*text);
    } else {
      const nlohmann::json* value = object->Raw(name);
      if (value->is_number()) {
        entries[name] = value->get<double>();
      } else {
        object->Report(kJsonBadValue, name, fmt::format("`{}.{}` must be a number", key, name));
      }
    }
  }
  return entries;
}

void ReadRates(JsonObject& object, Device& device) {
  object.Require("peak_flops");
  object.Require("memory_bandwidth");
  device.peak_flops = {object.Quantity("peak_flops", Unit::kFlopsPerSecond, true).value_or(0)};
  device.per_datatype_flops = Rates(object, "per_datatype_flops");
  device.matrix_flops = Rates(object, "matrix_flops");
  device.vector_flops = Rates(object, "vector_flops");
  device.memory_bandwidth = ByteRate(object, "memory_bandwidth").value_or(BytesPerSecond{});
}

void ReadParts(JsonObject& object, Device& device) {
  device.memory_kind = object.Text("memory_kind").value_or("");
  device.memory_capacity = ByteCount(object, "memory_capacity");
  device.l2_capacity = ByteCount(object, "l2_capacity");
  device.l2_bandwidth = ByteRate(object, "l2_bandwidth");
  device.shared_memory_per_sm = ByteCount(object, "shared_memory_per_sm");
  device.sm_count = SmallCount(object, "sm_count");
  device.lanes_per_sm = SmallCount(object, "lanes_per_sm");
  device.schedulers_per_sm = SmallCount(object, "schedulers_per_sm");
  device.special_lanes_per_sm = SmallCount(object, "special_lanes_per_sm");
  device.matrix_flops_per_clock = object.Quantity("matrix_flops_per_clock", Unit::kNumber, true);
  device.clock_hz = object.Quantity("clock", Unit::kHertz, true);
  device.process_nm = SmallCount(object, "process_nm");
  device.tdp_w = object.Quantity("tdp", Unit::kWatts, true);
  device.idle_w = object.Quantity("idle_power", Unit::kWatts);
  device.hbm_power_ratio = object.Quantity("hbm_power_ratio", Unit::kNumber);
  device.price = ReadPrice(object);
  device.interconnect = ReadInterconnect(object);
  device.host_bandwidth = ByteRate(object, "host_bandwidth");
  device.systolic_array = ReadSystolicArray(object);
  device.sparse_cores = SmallCount(object, "sparse_cores");
  device.genz = ReadGenzFigures(object);
}

Device ReadNative(JsonObject& object) {
  Device device;
  object.Has("$schema");
  object.Integer("schema_version", 1, 1);
  device.name = object.Text("name").value_or("");
  device.description = object.Text("description").value_or("");
  device.vendor = object.Text("vendor").value_or("");
  device.architecture = object.Text("architecture").value_or("");
  device.family = object.Text("family").value_or("");
  ReadRates(object, device);
  ReadParts(object, device);
  device.calibration = Entries<double>(object, "calibration");
  device.sources = Entries<std::string>(object, "sources");
  object.Finish();
  return device;
}

// {"perf_estimator": {"method": ..., "hardware": {...}}}: only the roofline figures matter here; methods built on the
// roofline keep them in a nested object.
Device ReadPrototypeNode(JsonObject& object) {
  Device device;
  auto estimator = object.Object("perf_estimator");
  estimator->Require("hardware");
  auto hardware = estimator->Object("hardware");
  if (!hardware) return device;
  auto nested = hardware->Has("roofline") ? hardware->Object("roofline") : std::nullopt;
  JsonObject& figures = nested ? *nested : *hardware;
  ReadRates(figures, device);
  device.tdp_w = figures.Quantity("tdp_W", Unit::kWatts);
  device.hbm_power_ratio = figures.Quantity("hbm_power_ratio", Unit::kNumber);
  return device;
}

std::string Stem(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  return name.substr(0, name.find('.'));
}

}  // namespace

FlopsPerSecond Device::RateFor(std::string_view datatype) const {
  const FlopsPerSecond* rate = Find(per_datatype_flops, datatype);
  return rate != nullptr ? *rate : peak_flops;
}

FlopsPerSecond Device::MatrixRateFor(std::string_view datatype) const {
  const FlopsPerSecond* rate = Find(matrix_flops, datatype);
  return rate != nullptr ? *rate : RateFor(datatype);
}

FlopsPerSecond Device::VectorRateFor(std::string_view datatype) const {
  const FlopsPerSecond* rate = Find(vector_flops, datatype);
  return rate != nullptr ? *rate : RateFor(datatype);
}

std::string_view Device::SourceOf(std::string_view figure) const {
  auto found = sources.find(figure);
  if (found == sources.end()) found = sources.find(figure.substr(0, figure.find('.')));
  if (found == sources.end()) found = sources.find("*");
  return found == sources.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<Device> ReadDevice(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  const auto parsed = ParseJson(text, file);
  if (!parsed) {
    diagnostics.Report(parsed.error());
    return std::nullopt;
  }
  const size_t before = diagnostics.error_count();
  const JsonSource source{text, file, &diagnostics};
  JsonObject object(source, *parsed);
  Device device = object.Has("perf_estimator") ? ReadPrototypeNode(object) : ReadNative(object);
  if (diagnostics.error_count() > before) return std::nullopt;
  if (device.name.empty()) device.name = Stem(file);
  device.origin = file;
  return device;
}

}  // namespace hespas::hardware
