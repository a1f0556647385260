#include "driver/figures/utilisation.h"

#include <vector>

#include "estimate/cost.h"
#include "ir/facts/fusion.h"

namespace hespas::driver {
namespace {

struct Seconds {
  double arithmetic = 0;
  double contractions = 0;
};

FlopsPerSecond RateOf(const ir::Module& module, ir::OpId op, bool contraction, const hardware::Device& device) {
  const ir::Element* element = estimate::RateElement(module, op, contraction);
  if (element == nullptr) return device.peak_flops;
  ir::Element component = *element;
  component.complex = false;
  const std::string datatype = ir::ElementText(component);
  if (!contraction) return device.VectorRateFor(datatype);
  const bool tf32 = datatype == "f32" && device.Knows("tf32") && estimate::AllowsTf32(module, op);
  return device.MatrixRateFor(tf32 ? "tf32" : datatype);
}

void Add(const ir::Module& module, ir::OpId op, const hardware::Device& device, Seconds& sum) {
  const estimate::OpCost cost = estimate::CostOf(module, op);
  if (cost.flops <= 0) return;
  const double seconds = static_cast<double>(cost.flops) / RateOf(module, op, cost.contraction, device).value;
  sum.arithmetic += seconds;
  if (cost.contraction) sum.contractions += seconds;
}

}  // namespace

PeakTimes PeakTimesOf(const Prepared& prepared, const Estimated& estimated) {
  const ir::Module& module = *prepared.module;
  const std::vector<int64_t> counts = graph::Uses(prepared.blocks, estimated.table);
  const std::vector<double> uses(counts.begin(), counts.end());
  double arithmetic = 0;
  double contractions = 0;
  double bytes = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    Seconds block;
    for (const ir::OpId op : prepared.blocks.blocks[estimated.table.first[i].index()].ops) {
      if (module.kind(op) != ir::OpKind::kFusion) {
        Add(module, op, prepared.device, block);
        continue;
      }
      for (const ir::OpId inner : ir::FusedOps(module, op)) Add(module, inner, prepared.device, block);
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
