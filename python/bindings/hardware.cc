#include "hardware.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/text/unit_text.h"
#include "base/version.h"
#include "driver/configuration/presets.h"
#include "errors.h"
#include "hardware/presets.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

using hardware::Device;
using hardware::System;

Device LoadDevice(const std::string& name_or_text) {
  Diagnostics diagnostics;
  auto device = hardware::LoadDevice(name_or_text, diagnostics);
  if (!device) Raise(diagnostics);
  return std::move(*device);
}

System LoadSystem(const std::string& name_or_text) {
  Diagnostics diagnostics;
  auto system = driver::LoadSystemPreset(name_or_text, diagnostics);
  if (!system) Raise(diagnostics);
  return std::move(*system);
}

std::string PresetPath(hardware::PresetKind kind, const std::string& name) {
  return Value(hardware::FindPreset(kind, name)).string();
}

using Rates = std::map<std::string, double>;

Rates AsDoubles(const hardware::RateTable& table) {
  Rates out;
  for (const auto& [name, rate] : table) out.emplace(name, rate.value);
  return out;
}

template <class T>
std::optional<int64_t> Count(const std::optional<T>& count) {
  return count ? std::optional<int64_t>(count->value) : std::nullopt;
}

void BindDevice(nb::module_& m) {
  nb::class_<Device>(m, "Device")
      .def_ro("name", &Device::name)
      .def_ro("description", &Device::description)
      .def_ro("vendor", &Device::vendor)
      .def_ro("architecture", &Device::architecture)
      .def_ro("family", &Device::family)
      .def_prop_ro("peak_flops", [](const Device& d) { return d.peak_flops.value; })
      .def_prop_ro("per_datatype_flops", [](const Device& d) { return AsDoubles(d.per_datatype_flops); })
      .def_prop_ro("matrix_flops", [](const Device& d) { return AsDoubles(d.matrix_flops); })
      .def_prop_ro("vector_flops", [](const Device& d) { return AsDoubles(d.vector_flops); })
      .def_prop_ro("memory_bandwidth", [](const Device& d) { return d.memory_bandwidth.value; })
      .def_ro("memory_kind", &Device::memory_kind)
      .def_prop_ro("memory_capacity", [](const Device& d) { return Count(d.memory_capacity); })
      .def_prop_ro("l2_capacity", [](const Device& d) { return Count(d.l2_capacity); })
      .def_prop_ro("shared_memory_per_sm", [](const Device& d) { return Count(d.shared_memory_per_sm); })
      .def_ro("sm_count", &Device::sm_count)
      .def_ro("lanes_per_sm", &Device::lanes_per_sm)
      .def_ro("clock_hz", &Device::clock_hz)
      .def_ro("tdp_w", &Device::tdp_w)
      .def_ro("idle_w", &Device::idle_w)
      .def("source_of", [](const Device& d, const std::string& figure) { return std::string(d.SourceOf(figure)); });
  m.def("load_device", &LoadDevice, nb::arg("name_or_text"));
  m.def("device_names", [] { return hardware::PresetNames(hardware::PresetKind::kDevice); });
  m.def("device_path", [](const std::string& name) { return PresetPath(hardware::PresetKind::kDevice, name); });
}

void BindSystem(nb::module_& m) {
  nb::class_<System>(m, "System")
      .def_ro("name", &System::name)
      .def_prop_ro("npus", &System::npus)
      .def_prop_ro("npus_count",
                   [](const System& s) {
                     std::vector<uint32_t> out;
                     for (const auto& d : s.dimensions) out.push_back(d.npus);
                     return out;
                   })
      .def_prop_ro("topology",
                   [](const System& s) {
                     constexpr const char* kNames[] = {"Ring", "FullyConnected", "Switch"};
                     std::vector<std::string> out;
                     for (const auto& d : s.dimensions) out.emplace_back(kNames[static_cast<size_t>(d.kind)]);
                     return out;
                   })
      .def_prop_ro("bandwidth",
                   [](const System& s) {
                     std::vector<double> out;
                     for (const auto& d : s.dimensions) out.push_back(d.bandwidth);
                     return out;
                   })
      .def_prop_ro("latency", [](const System& s) {
        std::vector<double> out;
        for (const auto& d : s.dimensions) out.push_back(d.latency);
        return out;
      });
  m.def("load_system", &LoadSystem, nb::arg("name_or_text"));
  m.def("system_names", [] { return hardware::PresetNames(hardware::PresetKind::kSystem); });
  m.def("system_path", [](const std::string& name) { return PresetPath(hardware::PresetKind::kSystem, name); });
}

}  // namespace

void BindHardware(nb::module_& m) {
  m.attr("version") = kVersion;
  m.def("set_data_folder", [](const std::string& folder) { hardware::SetDataFolder(folder); });
  m.def("data_folder", [] { return Value(hardware::DataFolder()).string(); });
  m.def("bytes_per_second", [](const std::string& text) { return Value(ParseQuantity(text, Unit::kBytesPerSecond)); });
  m.def("seconds", [](const std::string& text) { return Value(ParseQuantity(text, Unit::kSeconds)); });
  BindDevice(m);
  BindSystem(m);
}

}  // namespace hespas::python
