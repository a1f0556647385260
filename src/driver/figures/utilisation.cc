#include "driver/figures/utilisation.h"

#include <algorithm>
#include <limits>

#include "estimate/calibrated/machine.h"

namespace hespas::driver {

std::vector<estimate::Arithmetic> StepArithmetic(const Prepared& prepared, const graph::EstimateTable& table) {
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  std::vector<estimate::Arithmetic> sum;
  for (size_t i = 0; i < uses.size(); ++i) {
    for (const ir::OpId op : prepared.blocks.blocks[table.first[i].index()].ops) {
      for (const estimate::Arithmetic& part : estimate::ArithmeticOf(*prepared.module, op)) {
        AddTo(sum, part, static_cast<double>(uses[i]));
      }
    }
  }
  return sum;
}

double TrafficSeconds(const hardware::Device& device, const graph::BlockGraph& blocks,
                      const graph::EstimateTable& table) {
  const std::vector<int64_t> uses = graph::Uses(blocks, table);
  double seconds = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const graph::Estimate& estimate = table.unique[i];
    const double busy = static_cast<double>(estimate.bytes.value) / device.memory_bandwidth.value;
    seconds += static_cast<double>(uses[i]) * std::min(busy, estimate.time.seconds());
  }
  return seconds;
}

void FillUtilisation(const hardware::Device& device, const StepLoad& load, result::RunResult& out) {
  // A step of more than a hundred days says no more than that: its picoseconds saturate.
  if (out.step_time.value <= 0 || out.step_time.value == std::numeric_limits<int64_t>::max()) return;
  const double step = out.step_time.seconds();
  const estimate::calibrated::Machine machine = estimate::calibrated::MakeMachine(device);
  double all = 0;
  double contractions = 0;
  for (const estimate::Arithmetic& part : load.arithmetic) {
    const double seconds = part.flops / estimate::RateOn(machine, part).value;
    all += seconds;
    if (part.contraction) contractions += seconds;
  }
  out.flops_utilisation = all / step;
  out.hardware_flops_utilisation = contractions / step;
  out.model_flops_utilisation.reset();
  if (load.model) out.model_flops_utilisation = ModelShare(*load.model, machine) * out.hardware_flops_utilisation;
  out.memory_bandwidth_utilisation = load.traffic_seconds / step;
}

}  // namespace hespas::driver
