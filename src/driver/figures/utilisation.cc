#include "driver/figures/utilisation.h"

#include <algorithm>
#include <limits>

#include "estimate/arithmetic.h"
#include "estimate/calibrated/machine.h"
#include "estimate/composite.h"

namespace hespas::driver {
namespace {

// Arithmetic at peak rates: `compute_seconds` is that of matmuls and convolutions, `seconds` that of everything.
class PeakArithmetic : public estimate::LeafEstimator {
 public:
  explicit PeakArithmetic(const hardware::Device& device) : machine_(estimate::calibrated::MakeMachine(device)) {}

  estimate::Work Leaf(const ir::Module& module, ir::OpId op, estimate::Notes&) const override {
    estimate::Work work;
    for (const estimate::Arithmetic& part : estimate::ArithmeticOf(module, op)) {
      const double seconds = part.flops / estimate::RateOn(machine_, part).value;
      work.seconds += seconds;
      if (part.contraction) work.compute_seconds += seconds;
    }
    return work;
  }

 private:
  estimate::calibrated::Machine machine_;
};

}  // namespace

StepLoad LoadOf(const Prepared& prepared, const graph::EstimateTable& table, const hardware::Device& device) {
  const PeakArithmetic peak(device);
  estimate::Notes notes;  // the estimate has told them
  estimate::CompositeEvaluator evaluator(*prepared.module, peak, notes);
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  StepLoad load;
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto times = static_cast<double>(uses[i]);
    for (const ir::OpId op : prepared.blocks.blocks[table.first[i].index()].ops) {
      const estimate::Work work = evaluator.Op(op);
      load.arithmetic += times * work.seconds;
      load.contractions += times * work.compute_seconds;
    }
    const graph::Estimate& estimate = table.unique[i];
    const double traffic = static_cast<double>(estimate.bytes.value) / device.memory_bandwidth.value;
    load.traffic += times * std::min(traffic, estimate.time.seconds());
  }
  return load;
}

void FillUtilisation(const hardware::Device& device, const StepLoad& load, const std::optional<ModelWork>& model,
                     result::RunResult& out) {
  // A step of more than a hundred days says no more than that: its picoseconds saturate.
  if (out.step_time.value <= 0 || out.step_time.value == std::numeric_limits<int64_t>::max()) return;
  const double step = out.step_time.seconds();
  out.flops_utilisation = load.arithmetic / step;
  out.hardware_flops_utilisation = load.contractions / step;
  out.memory_bandwidth_utilisation = load.traffic / step;
  if (!model) return;
  const double share = ModelShare(*model, estimate::calibrated::MakeMachine(device));
  out.model_flops_utilisation = share * out.hardware_flops_utilisation;
}

}  // namespace hespas::driver
