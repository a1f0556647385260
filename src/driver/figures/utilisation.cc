#include "driver/figures/utilisation.h"

#include <vector>

#include "estimate/arithmetic.h"
#include "estimate/calibrated/machine.h"

namespace hespas::driver {
namespace {

struct Seconds {
  double arithmetic = 0;
  double contractions = 0;
};

void Add(const ir::Module& module, ir::OpId op, const estimate::calibrated::Machine& machine, Seconds& sum) {
  for (const estimate::Arithmetic& part : estimate::ArithmeticOf(module, op)) {
    const double seconds = part.flops / estimate::RateOn(machine, part).value;
    sum.arithmetic += seconds;
    if (part.contraction) sum.contractions += seconds;
  }
}

}  // namespace

PeakTimes PeakTimesOf(const Prepared& prepared, const Estimated& estimated) {
  const ir::Module& module = *prepared.module;
  const std::vector<int64_t> counts = graph::Uses(prepared.blocks, estimated.table);
  const std::vector<double> uses(counts.begin(), counts.end());
  const estimate::calibrated::Machine machine = estimate::calibrated::MakeMachine(prepared.device);
  double arithmetic = 0;
  double contractions = 0;
  double bytes = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    Seconds block;
    for (const ir::OpId op : prepared.blocks.blocks[estimated.table.first[i].index()].ops) {
      Add(module, op, machine, block);
    }
    arithmetic += uses[i] * block.arithmetic;
    contractions += uses[i] * block.contractions;
    bytes += uses[i] * static_cast<double>(estimated.table.unique[i].bytes.value);
  }
  return {.arithmetic = Time::Seconds(arithmetic),
          .contractions = Time::Seconds(contractions),
          .traffic = Time::Seconds(bytes / prepared.device.memory_bandwidth.value)};
}

}  // namespace hespas::driver
