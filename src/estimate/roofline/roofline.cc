#include "estimate/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/cost.h"
#include "estimate/fusion_cost.h"

namespace hespas::estimate {
namespace {

constexpr std::string_view kModelVersion = "roofline 1";

std::string RatesText(const hardware::RateTable& rates) {
  std::string text;
  for (const auto& [datatype, rate] : rates) text += fmt::format("{}={};", datatype, rate.value);
  return text;
}

Hash128 KeyOf(const hardware::Device& device) {
  return HashBytes(fmt::format("{}|{}|{}|{}|{}|{}", kModelVersion, device.peak_flops.value,
                               device.memory_bandwidth.value, RatesText(device.per_datatype_flops),
                               RatesText(device.matrix_flops), RatesText(device.vector_flops)));
}

}  // namespace

Roofline::Roofline(hardware::Device device) : device_(std::move(device)), key_(KeyOf(device_)) {}

double Roofline::Rate(const ir::Module& module, ir::OpId op, bool contraction, Notes& notes) const {
  const ir::Element* element = RateElement(module, op, contraction);
  if (element == nullptr) return device_.peak_flops.value;
  ir::Element component = *element;
  component.complex = false;
  const std::string datatype = ir::ElementText(component);
  if (!device_.per_datatype_flops.empty() && !device_.Knows(datatype)) {
    notes.push_back({NoteKind::kUnknownDatatype, op, datatype});
  }
  if (!contraction) return device_.VectorRateFor(datatype).value;
  if (datatype == "f32" && device_.Knows("tf32") && AllowsTf32(module, op)) return device_.MatrixRateFor("tf32").value;
  return device_.MatrixRateFor(datatype).value;
}

double Roofline::ComputeSeconds(const ir::Module& module, ir::OpId op, const OpCost& cost, Notes& notes) const {
  if (cost.flops <= 0) return 0;
  if (module.kind(op) != ir::OpKind::kFusion) {
    return static_cast<double>(cost.flops) / Rate(module, op, cost.contraction, notes);
  }
  double seconds = 0;
  for (const ir::OpId inner : FusedOps(module, op)) {
    const OpCost part = CostOf(module, inner);
    if (part.flops > 0) seconds += static_cast<double>(part.flops) / Rate(module, inner, part.contraction, notes);
  }
  return seconds;
}

Work Roofline::Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const {
  const OpCost cost = CostOf(module, op);
  if (!cost.known) {
    const bool custom = module.kind(op) == ir::OpKind::kCustomCall;
    notes.push_back({custom ? NoteKind::kUnknownCustomCall : NoteKind::kNoRule, op,
                     std::string(custom ? cost.unknown_target : module.name(op))});
  }
  if (cost.bytes == 0 && cost.flops == 0) return {};
  if (HasDynamicShape(module, op)) notes.push_back({NoteKind::kDynamicShape, op, std::string(module.name(op))});
  Work work{.flops = cost.flops, .bytes = cost.bytes};
  work.compute_seconds = ComputeSeconds(module, op, cost, notes);
  work.memory_seconds = static_cast<double>(cost.bytes) / device_.memory_bandwidth.value;
  work.seconds = std::max(work.compute_seconds, work.memory_seconds);
  return work;
}

graph::Estimate Roofline::EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const {
  return ToEstimate(CompositeEvaluator(module, *this, notes).Op(op), name());
}

graph::Estimate Roofline::EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const {
  CompositeEvaluator evaluator(module, *this, notes);
  Work work;
  for (const ir::OpId op : block.ops) work += evaluator.Op(op);
  return ToEstimate(work, name());
}

}  // namespace hespas::estimate
