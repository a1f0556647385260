#include "driver/stages/program/model_work.h"

#include <algorithm>

#include "ir/facts/recomputation.h"

namespace hespas::driver {
namespace {

// Adds to the entry of its rate.
void AddTo(std::vector<estimate::Arithmetic>& sum, const estimate::Arithmetic& part, double times) {
  auto found = std::find_if(sum.begin(), sum.end(), [&](const estimate::Arithmetic& entry) {
    return entry.contraction == part.contraction && entry.type == part.type && entry.precision == part.precision &&
           entry.dequantised == part.dequantised;
  });
  if (found == sum.end()) {
    sum.push_back(part);
    found = sum.end() - 1;
    found->flops = 0;
  }
  found->flops += times * part.flops;
}

std::vector<estimate::Arithmetic> Contractions(const ir::Module& module, const std::vector<ir::ExecutedOp>& ops) {
  std::vector<estimate::Arithmetic> sum;
  for (const ir::ExecutedOp& executed : ops) {
    for (const estimate::Arithmetic& part : estimate::ArithmeticOf(module, executed.op)) {
      if (part.contraction) AddTo(sum, part, executed.times);
    }
  }
  return sum;
}

}  // namespace

std::optional<ModelWork> ModelWorkOf(const ir::Module& module, bool scheduled) {
  const auto found = ir::RecomputationOf(module, scheduled);
  if (!found) return std::nullopt;
  return ModelWork{.executed = Contractions(module, found->all), .recomputed = Contractions(module, found->again)};
}

double ModelShare(const ModelWork& work, const estimate::calibrated::Machine& machine) {
  const double executed = estimate::SecondsOn(machine, work.executed);
  return executed > 0 ? 1 - estimate::SecondsOn(machine, work.recomputed) / executed : 1;
}

}  // namespace hespas::driver
