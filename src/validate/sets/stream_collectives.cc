#include "validate/sets/stream_collectives.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "hardware/cluster.h"
#include "hardware/presets.h"
#include "network/calibrated.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

constexpr double kLaunchUs = 5;  // of "roofline and a constant"

// Bytes are not summed in the switch (NCCL, src/include/device.h: ncclNvlsSupported).
bool ReducibleInSwitch(const std::string& dtype) { return dtype != "i8" && dtype != "s8" && dtype != "u8"; }

// Both enumerations begin with the same operations in the same order.
static_assert(network::kOperations >= calibrated::kCollectiveOps);

network::Price PriceOf(const network::CalibratedModel& model, const calibrated::CollectiveSpec& spec,
                       const std::string& dtype) {
  std::vector<uint32_t> members(static_cast<size_t>(spec.ranks));
  std::iota(members.begin(), members.end(), 0u);
  return model.PriceOf({.op = static_cast<network::Operation>(spec.op),
                        .bytes = spec.bytes,
                        .reducible_in_switch = ReducibleInSwitch(dtype)},
                       members);
}

std::string SizeClass(double bytes) {
  constexpr double kMiB = 1024.0 * 1024;
  return bytes > 64 * kMiB ? "above 64 MiB" : bytes > kMiB ? "1-64 MiB" : "up to 1 MiB";
}

// What the kinds of links of all other devices tell.
network::NetworkConstants Without(const network::NetworkConstants& all, const std::string& left,
                                  const std::map<std::string, hardware::Device>& devices) {
  network::NetworkConstants others = all;
  std::erase_if(others.links, [&](const network::LinkConstants& link) {
    if (link.kind == all.links.back().kind) return false;
    return std::ranges::none_of(devices, [&](const auto& device) {
      return device.first != left && device.second.interconnect->name == link.kind;
    });
  });
  return others;
}

std::optional<std::map<std::string, hardware::Device>> DevicesOf(const CsvTable& table, Diagnostics& diagnostics) {
  std::map<std::string, hardware::Device> devices;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string name = CellText(table, row, "key");
    if (devices.contains(name)) continue;
    auto device = hardware::LoadDevice(name, diagnostics);
    if (!device || !device->interconnect) return std::nullopt;
    device->calibration.clear();  // of collectives with a rendezvous
    devices.emplace(name, *std::move(device));
  }
  return devices;
}

}  // namespace

Status PredictStreams(const CsvTable& table, const std::vector<std::optional<calibrated::CollectiveSpec>>& specs,
                      const hardware::Device& device, const hardware::System& system,
                      calibrated::Predictions& predictions) {
  const auto& constants = network::DefaultNetworkConstants();
  if (!constants) return constants.error();
  hardware::Device figures = device;
  figures.calibration.clear();  // of collectives with a rendezvous
  const network::CalibratedModel model(figures, system, *constants);
  for (size_t row = 0; row < specs.size(); ++row) {
    const std::string timing = table.Column("timing") ? CellText(table, row, "timing") : "";
    if (!specs[row] || (timing != "stream" && timing != "graph")) continue;
    predictions[row].reset();
    if (specs[row]->ranks > static_cast<double>(system.npus())) continue;
    const std::string dtype = table.Column("dtype") ? CellText(table, row, "dtype") : "";
    const double us = PriceOf(model, *specs[row], dtype).time.seconds() * 1e6;
    predictions[row] = calibrated::Prediction{.us = us, .sigma_us = model.sigma() * us};
  }
  return {};
}

bool AddStreamCollectives(Groups& groups, bool held_out, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("stream_collectives.csv.gz", diagnostics);
  const auto devices = table ? DevicesOf(*table, diagnostics) : std::nullopt;
  const auto& shipped = network::DefaultNetworkConstants();
  if (!shipped) diagnostics.Report(shipped.error());
  if (!devices || !shipped) return false;
  for (const auto& [name, device] : *devices) {
    const network::NetworkConstants constants = held_out ? Without(*shipped, name, *devices) : *shipped;
    const auto system = hardware::ReferenceCluster(device, kHostRanks);
    if (!system) return false;
    const network::CalibratedModel model(device, *system, constants);
    for (size_t row = 0; row < table->rows.size(); ++row) {
      const auto op = calibrated::ParseCollective(CellText(*table, row, "op"));
      if (!op || CellText(*table, row, "key") != name) continue;
      const calibrated::CollectiveSpec spec{
          .op = *op, .ranks = CellNumber(*table, row, "N"), .bytes = CellNumber(*table, row, "bytes")};
      const network::Price price = PriceOf(model, spec, CellText(*table, row, "dtype"));
      const double us = price.time.seconds() * 1e6;
      const double passes = *op == calibrated::CollectiveOp::kAllReduce ? 2 : 1;
      const double wire =
          passes * spec.bytes * (spec.ranks - 1) / spec.ranks / (device.interconnect->bandwidth.value * 1e-6);
      groups[{"stream collectives", held_out ? "zero-shot" : "shipped", name, SizeClass(spec.bytes)}].push_back(
          {.measured = CellNumber(*table, row, "t_us"),
           .predicted = us,
           .sigma = model.sigma() * us,
           .roofline = wire,
           .roofline_constant = wire + kLaunchUs});
    }
  }
  return true;
}

}  // namespace hespas::validate
