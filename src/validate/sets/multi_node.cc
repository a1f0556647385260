#include "validate/sets/multi_node.h"

#include <numeric>

#include "hardware/cluster.h"
#include "hardware/presets.h"
#include "network/calibrated.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

// Of the slowest level alone at its stated bandwidth.
double Roofline(const network::Price& price, const hardware::System& system, double bytes, double ranks) {
  const hardware::NetworkDimension& outer = system.dimensions[price.levels.back().dimension];
  constexpr double kBytePerUs = 1073.741824;  // of a system's GB/s
  return bytes * (ranks - 1) / ranks / (outer.bandwidth * kBytePerUs);
}

}  // namespace

bool AddMultiNode(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("multi_node.csv", diagnostics);
  const auto& constants = network::DefaultNetworkConstants();
  if (!table || !constants) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const std::string key = CellText(*table, row, "key");
    const auto op = calibrated::ParseCollective(CellText(*table, row, "op"));
    auto device = hardware::LoadDevice(key, diagnostics);
    const auto system = hardware::ParseCluster(CellText(*table, row, "system"), diagnostics);
    if (!op || !device || !system) return false;
    device->calibration.clear();  // of collectives with a rendezvous
    const network::CalibratedModel model(*device, *system, *constants);
    std::vector<uint32_t> members(system->npus());
    std::iota(members.begin(), members.end(), 0u);
    const double bytes = CellNumber(*table, row, "bytes");
    const network::Price price = model.PriceOf({.op = static_cast<network::Operation>(*op), .bytes = bytes}, members);
    const double us = price.time.seconds() * 1e6;
    const double outer = price.levels.back().ranks;
    groups[{kMultiNodeSet, mode, key, CellText(*table, row, "mode")}].push_back(
        {.measured = CellNumber(*table, row, "t_us"),
         .predicted = us,
         .sigma = model.sigma() * us,
         .roofline = Roofline(price, *system, bytes, outer)});
  }
  return true;
}

}  // namespace hespas::validate
