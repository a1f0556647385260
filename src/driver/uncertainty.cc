#include "driver/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/machine.h"
#include "estimate/cost.h"

namespace hespas::driver {
namespace {

struct Sum {
  double common = 0;   // of standard deviations
  double squares = 0;  // of the same
};

bool IsProduct(const ir::Module& module, const graph::Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(),
                     [&](ir::OpId op) { return estimate::CostOf(module, op).contraction; });
}

}  // namespace

std::optional<Time> StepSigma(const Prepared& prepared, const Estimated& estimated, Time exposed) {
  const auto& shared = estimate::calibrated::DefaultParameters();
  if (!shared) return std::nullopt;
  const auto parameters = estimate::calibrated::ForDevice(*shared, prepared.device);
  std::vector<double> uses(estimated.table.unique.size());
  for (const uint32_t at : estimated.table.of_block) {
    if (at != graph::EstimateTable::kNone) ++uses[at];
  }
  Sum families[2];
  for (size_t i = 0; i < uses.size(); ++i) {
    const double sigma = uses[i] * estimated.table.unique[i].sigma.seconds();
    const graph::Block& block = prepared.blocks.blocks[estimated.table.first[i].index()];
    Sum& family = families[IsProduct(*prepared.module, block) ? 1 : 0];
    family.common += sigma;
    family.squares += sigma * sigma;
  }
  if (families[0].squares + families[1].squares <= 0) return std::nullopt;
  const double network =
      parameters.sigma[static_cast<size_t>(estimate::calibrated::Family::kCollective)] * exposed.seconds();
  double variance = network * network;
  for (const Sum& family : families) {
    variance += parameters.correlation * family.common * family.common + (1 - parameters.correlation) * family.squares;
  }
  return Time::Seconds(std::sqrt(variance));
}

}  // namespace hespas::driver
