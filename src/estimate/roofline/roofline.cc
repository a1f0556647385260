#include "estimate/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::estimate {
namespace {

constexpr std::string_view kModelVersion = "roofline 2";

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

Roofline::Roofline(hardware::Device device, std::shared_ptr<const Facts> facts)
    : device_(std::move(device)),
      machine_(calibrated::MakeMachine(device_)),
      key_(KeyOf(device_)),
      facts_(std::move(facts)) {}

void Roofline::NoteUnknownTypes(const RooflineFacts& facts, ir::OpId op, Notes& notes) const {
  if (device_.per_datatype_flops.empty()) return;
  for (const Arithmetic& part : facts.arithmetic) {
    if (!part.type || machine_.rated[static_cast<size_t>(*part.type)]) continue;
    notes.push_back({NoteKind::kUnknownDatatype, op, std::string(calibrated::Entry(*part.type).name)});
  }
}

Work Roofline::Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const {
  const auto work_of = [&](const RooflineFacts& facts) {
    const OpCost& cost = facts.cost;
    if (!cost.known) {
      const bool custom = module.kind(op) == ir::OpKind::kCustomCall;
      notes.push_back({custom ? NoteKind::kUnknownCustomCall : NoteKind::kNoRule, op,
                       std::string(custom ? cost.unknown_target : module.name(op))});
    }
    if (cost.bytes == 0 && cost.flops == 0) return Work{};
    if (facts.dynamic) notes.push_back({NoteKind::kDynamicShape, op, std::string(module.name(op))});
    Work work{.flops = cost.flops, .bytes = cost.bytes};
    NoteUnknownTypes(facts, op, notes);
    work.compute_seconds = SecondsOn(machine_, facts.arithmetic);
    work.memory_seconds = static_cast<double>(cost.bytes) / device_.memory_bandwidth.value;
    work.seconds = std::max({work.compute_seconds, work.memory_seconds, HostSeconds(device_, cost)});
    return work;
  };
  const auto make = [&] { return RooflineFactsOf(module, op); };
  return facts_ && facts_->module == &module ? work_of(facts_->roofline.Of(op, make)) : work_of(make());
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
