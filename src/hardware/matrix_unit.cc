#include "hardware/matrix_unit.h"

#include <string>

namespace hespas::hardware {
namespace {

std::optional<BytesPerSecond> Rate(JsonObject& object, const std::string& key) {
  const auto value = object.Quantity(key, Unit::kBytesPerSecond, true);
  return value ? std::optional(BytesPerSecond{*value}) : std::nullopt;
}

}  // namespace

std::optional<SystolicArray> ReadSystolicArray(JsonObject& device) {
  auto object = device.Object("systolic_array");
  if (!object) return std::nullopt;
  constexpr int64_t kMost = 1 << 20;
  SystolicArray array;
  object->Require("clock");
  const SystolicArray defaults;
  array.rows = static_cast<double>(object->Integer("rows", 1, kMost).value_or(128));
  array.columns = static_cast<double>(object->Integer("columns", 1, kMost).value_or(128));
  array.count = static_cast<double>(object->Integer("count", 1, kMost).value_or(1));
  array.clock_hz = object->Quantity("clock", Unit::kHertz, true).value_or(defaults.clock_hz);
  array.buffer_bytes = object->Quantity("buffer", Unit::kBytes, true).value_or(defaults.buffer_bytes);
  array.read_bandwidth = Rate(*object, "read_bandwidth");
  array.write_bandwidth = Rate(*object, "write_bandwidth");
  array.tile_overhead_cycles = object->Quantity("tile_overhead_cycles", Unit::kNumber).value_or(0);
  object->Finish();
  return array;
}

std::optional<GenzFigures> ReadGenzFigures(JsonObject& device) {
  auto object = device.Object("genz");
  if (!object) return std::nullopt;
  GenzFigures figures;
  if (const auto peak = object->Quantity("peak_flops", Unit::kFlopsPerSecond, true)) figures.peak_flops = {*peak};
  figures.memory_bandwidth = Rate(*object, "memory_bandwidth");
  figures.link_bandwidth = Rate(*object, "link_bandwidth");
  if (const auto latency = object->Quantity("link_latency", Unit::kSeconds)) {
    figures.link_latency = Time::Seconds(*latency);
  }
  object->Finish();
  return figures;
}

}  // namespace hespas::hardware
