#include "estimate/calibrated/calibrated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "estimate/calibrated/instructions.h"
#include "estimate/calibrated/products.h"
#include "estimate/fusion_cost.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr std::string_view kModelVersion = "calibrated 2";

Hash128 KeyOf(const Machine& machine, const hardware::Device& device, const Parameters& parameters) {
  std::string own;
  for (const auto& [name, value] : device.calibration) own += fmt::format("{}={};", name, value);
  const std::string figures = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", kModelVersion, machine.sms,
                                          machine.clock, machine.memory_rate, machine.l2_bytes, machine.fast_bytes,
                                          machine.lanes, machine.tdp_w, machine.process_nm, machine.gddr,
                                          fmt::join(machine.matrix_rate, ","), fmt::join(machine.vector_rate, ","),
                                          fmt::join(machine.sm_matrix_rate, ","), fmt::join(machine.tensor, ","), own);
  return Combine(HashBytes(figures), parameters.fingerprint);
}

void NoteUnknown(const ir::Module& module, ir::OpId op, const OpCost& cost, Notes& notes) {
  if (cost.known) return;
  const bool custom = module.kind(op) == ir::OpKind::kCustomCall;
  notes.push_back({custom ? NoteKind::kUnknownCustomCall : NoteKind::kNoRule, op,
                   std::string(custom ? cost.unknown_target : module.name(op))});
}

}  // namespace

Calibrated::Calibrated(const hardware::Device& device, const Parameters& parameters)
    : model_(device, parameters), key_(KeyOf(model_.machine(), device, parameters)) {}

Work Calibrated::ToWork(const KernelTime& time, const OpCost& cost) const {
  // Kernels follow each other in a stream: only a part of the launch that a lone kernel shows is left.
  const double hidden_us = std::max(0.0, time.launch_us - model_.parameters().stream.launch_us);
  const double us = time.us - hidden_us;
  const double sigma = time.sigma_us / time.us * us * 1e-6;
  return {.seconds = us * 1e-6,
          .variance = sigma * sigma,
          .compute_seconds = time.compute_us * 1e-6,
          .memory_seconds = (time.memory_us + time.l2_us) * 1e-6,
          .launch_seconds = (time.launch_us - hidden_us) * 1e-6,
          .flops = cost.flops,
          .bytes = cost.bytes};
}

Work Calibrated::Traffic(double bytes, const Instructions& instructions) const {
  KernelSpec kernel{.shape = Shape::kTraffic, .bytes = bytes, .instructions = instructions};
  return ToWork(model_.Time(kernel), {.flops = 0, .bytes = static_cast<int64_t>(bytes)});
}

Work Calibrated::FusionWork(const ir::Module& module, ir::OpId op, const OpCost& cost) const {
  Work work;
  double rest = static_cast<double>(cost.bytes);
  if (cost.contraction) {
    for (const ir::OpId inner : FusedOps(module, op)) {
      const auto product = ProductOf(module, inner, model_.machine());
      if (!product) continue;
      const KernelTime time = model_.Time(*product);
      work += ToWork(time, {});
      rest -= time.bytes;
    }
  }
  const Instructions instructions = FusionInstructions(module, op);
  if (work.seconds == 0) {
    work = Traffic(rest, instructions);
  } else if (rest > 0) {  // an epilogue's own traffic, without another launch
    work.seconds += rest / (model_.machine().memory_rate * model_.parameters().memory.hbm_fraction) * 1e-6;
  }
  work.flops = cost.flops;
  work.bytes = cost.bytes;
  return work;
}

Work Calibrated::Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const {
  // Row-major layouts make a reshape a renaming: XLA turns it into a bitcast.
  if (module.kind(op) == ir::OpKind::kReshape) return {};
  const OpCost cost = CostOf(module, op);
  NoteUnknown(module, op, cost, notes);
  if (cost.bytes == 0 && cost.flops == 0) return {};
  if (HasDynamicShape(module, op)) notes.push_back({NoteKind::kDynamicShape, op, std::string(module.name(op))});
  if (module.kind(op) == ir::OpKind::kFusion) return FusionWork(module, op, cost);
  if (const auto product = ProductOf(module, op, model_.machine())) return ToWork(model_.Time(*product), cost);
  Instructions instructions = OpInstructions(module, op);
  const double flops = cost.contraction ? 0 : static_cast<double>(cost.flops);
  if (instructions.lanes + instructions.special < flops) instructions = {.lanes = flops};
  Work work = Traffic(static_cast<double>(cost.bytes), instructions);
  work.flops = cost.flops;
  return work;
}

graph::Estimate Calibrated::EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const {
  return ToEstimate(CompositeEvaluator(module, *this, notes).Op(op), name());
}

graph::Estimate Calibrated::EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const {
  CompositeEvaluator evaluator(module, *this, notes);
  Work work;
  for (const ir::OpId op : block.ops) work += evaluator.Op(op);
  return ToEstimate(work, name());
}

}  // namespace hespas::estimate::calibrated
