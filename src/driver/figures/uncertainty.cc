#include "driver/figures/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/machine.h"
#include "estimate/cost.h"
#include "network/link_constants.h"

namespace hespas::driver {
namespace {

bool IsMatmul(const ir::Module& module, const graph::Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(),
                     [&](ir::OpId op) { return estimate::CostOf(module, op).contraction; });
}

}  // namespace

void CorrelatedSigma::Add(size_t family, double sigma, double uses) {
  Sum& sum = families_[family];
  sum.common += uses * sigma;
  sum.squares += uses * uses * sigma * sigma;
}

double CorrelatedSigma::Total(double correlation) const {
  double variance = 0;
  for (const auto& [family, sum] : families_) {
    variance += correlation * sum.common * sum.common + (1 - correlation) * sum.squares;
  }
  return std::sqrt(variance);
}

std::vector<size_t> FamiliesOf(const Prepared& prepared, const graph::EstimateTable& table) {
  std::vector<size_t> families;
  families.reserve(table.first.size());
  for (const graph::BlockId first : table.first)
    families.push_back(IsMatmul(*prepared.module, prepared.blocks.blocks[first.index()]) ? 1 : 0);
  return families;
}

std::optional<double> ComputeSigma(const Prepared& prepared, const std::vector<size_t>& families,
                                   const hardware::Device& device, const graph::EstimateTable& table) {
  const auto& shared = estimate::calibrated::DefaultParameters();
  if (!shared) return std::nullopt;
  const auto parameters = estimate::calibrated::ForDevice(*shared, device);
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  CorrelatedSigma blocks;
  for (size_t i = 0; i < uses.size(); ++i) {
    blocks.Add(families[i], table.unique[i].sigma.seconds(), static_cast<double>(uses[i]));
  }
  const double compute = blocks.Total(parameters.correlation);
  return compute > 0 ? std::optional(compute) : std::nullopt;
}

Time StepSigma(const hardware::Device& device, double compute_sigma, Time exposed) {
  const auto& links = network::DefaultNetworkConstants();
  const auto& ports = device.interconnect;
  const double network = links ? links->Of(ports ? ports->name : "").sigma * exposed.seconds() : 0;
  return Time::Seconds(std::hypot(compute_sigma, network));
}

}  // namespace hespas::driver
