#include "estimate/calibrated/calibrated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/own_kernels.h"
#include "estimate/field/constants.h"
#include "estimate/fusion_cost.h"
#include "ir/facts/library_call.h"
#include "ir/op_kind.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr std::string_view kModelVersion = "calibrated 10";

Hash128 KeyOf(const Machine& machine, const hardware::Device& device, const Parameters& parameters, double between_us) {
  std::string own;
  for (const auto& [name, value] : device.calibration) own += fmt::format("{}={};", name, value);
  const std::string figures =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", kModelVersion, machine.sms, machine.clock,
                  machine.memory_rate, machine.sm_share, machine.l2_bytes, machine.fast_bytes, machine.lanes,
                  machine.special_lanes, machine.issue_share, machine.tdp_w, machine.process_nm, machine.gddr,
                  fmt::join(machine.matrix_rate, ","), fmt::join(machine.vector_rate, ","),
                  fmt::join(machine.sm_matrix_rate, ","), fmt::join(machine.tensor, ","), between_us, own);
  return Combine(Combine(HashBytes(figures), parameters.fingerprint), field::DefaultFingerprint());
}

void NoteUnknown(const ir::Module& module, ir::OpId op, const OpCost& cost, Notes& notes) {
  if (cost.known) return;
  const bool custom = module.kind(op) == ir::OpKind::kCustomCall;
  notes.push_back({custom ? NoteKind::kUnknownCustomCall : NoteKind::kNoRule, op,
                   std::string(custom ? cost.unknown_target : module.name(op))});
}

// Relative, of kinds of kernels that no calibration row has: |ln(predicted / measured)| is less for 68 % of 37 of them
// in 20 programs that XLA compiled for an H100.
constexpr double kSigmaWithoutRow = 1.6;

bool HasNoRow(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  if (kind == ir::OpKind::kReduceWindow || kind == ir::OpKind::kSelectAndScatter) return true;
  const ir::OpSort sort = ir::Traits(kind).sort;
  if (sort != ir::OpSort::kCustomCall) return sort == ir::OpSort::kScatter || sort == ir::OpSort::kOther;
  const auto library = ir::LibraryKindOf(module, op);
  return !library || library == ir::LibraryKind::kOther;
}

bool HoldsNoRow(const ir::Module& module, ir::OpId op, const hardware::Device& device, const LeafFacts& facts) {
  // The field model's rows of dots with scales are of TensorRT-LLM's kernels, not of those that XLA runs.
  const bool in_field = PricedByField(device, facts) && !facts.scaled_dot;
  if (!facts.fusion) return !facts.cost.own_kernel && !in_field && HasNoRow(module, op);
  const auto fused = FusedOps(module, op);
  return std::any_of(fused.begin(), fused.end(), [&](ir::OpId inner) { return HasNoRow(module, inner); });
}

}  // namespace

Calibrated::Calibrated(const hardware::Device& device, const Parameters& parameters, std::shared_ptr<const Facts> facts,
                       const CommandBuffers& buffers)
    : device_(device),
      model_(device, parameters),
      between_us_(BetweenUs(model_.parameters().stream, buffers)),
      key_(KeyOf(model_.machine(), device, parameters, between_us_)),
      facts_(std::move(facts)) {}

Work Calibrated::ToWork(const KernelTime& time, const OpCost& cost, double between_us) const {
  // Kernels follow each other in a stream: only a part of the launch that a lone kernel shows is left.
  const double hidden_us = std::max(0.0, time.launch_us - between_us);
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
  return ToWork(model_.Time(kernel), {.flops = 0, .bytes = internal::SaturatingRound(std::trunc(bytes))}, between_us_);
}

Work Calibrated::FusionWork(const LeafFacts& facts) const {
  const double stream_us = model_.parameters().stream.launch_us;
  Work work;
  double rest = static_cast<double>(facts.cost.bytes);
  for (const Matmul& matmul : facts.matmuls) {
    const KernelTime time = model_.Time(matmul.On(model_.machine()));
    work += ToWork(time, {}, stream_us);
    rest -= time.bytes;
  }
  if (work.seconds == 0) {
    work = Traffic(rest, facts.instructions);
  } else if (rest > 0) {  // an epilogue's own traffic, without another launch
    work.seconds += rest / model_.memory_rate() * 1e-6;
  }
  work.flops = facts.cost.flops;
  work.bytes = facts.cost.bytes;
  return work;
}

// Steps follow each other like kernels of their own. Nothing runs faster than the device's peak, whatever its parts
// were estimated at.
Work Calibrated::WorkOf(const LeafFacts& facts) const {
  Work work = KernelWork(facts);
  const double waiting = facts.cost.steps * model_.parameters().memory.launch_us * 1e-6;
  work.seconds = std::max(work.seconds + waiting, SecondsOn(model_.machine(), facts.arithmetic));
  work.launch_seconds += waiting;
  return work;
}

Work Calibrated::OwnKernelWork(const LeafFacts& facts) const {
  Work work = Traffic(static_cast<double>(facts.cost.bytes), facts.instructions);
  const double matrix = MatrixUs(model_, device_, facts) * 1e-6;
  const double longest = std::max({work.seconds - work.launch_seconds, matrix, HostSeconds(device_, facts.cost)});
  const double grown = (work.launch_seconds + longest) / work.seconds;
  work.variance *= grown * grown;
  work.seconds *= grown;
  // What the field model has beyond the softmax's instructions holds the board's power, which would count again
  // (driver/stages/cost/power_limit.h).
  if (PricedByField(device_, facts)) work.limited_seconds = std::max(0.0, matrix - work.compute_seconds);
  work.compute_seconds = std::max(work.compute_seconds, matrix);
  work.flops = facts.cost.flops;
  return work;
}

Work Calibrated::ScaledDotWork(const LeafFacts& facts, double field_us) const {
  Work work = Traffic(static_cast<double>(facts.cost.bytes), {});
  work.seconds = work.launch_seconds + std::max(work.seconds - work.launch_seconds, field_us * 1e-6);
  work.memory_seconds = static_cast<double>(facts.cost.bytes) / model_.memory_rate() * 1e-6;  // weights have left L2
  work.compute_seconds = SecondsOn(model_.machine(), facts.arithmetic);
  work.limited_seconds = work.compute_seconds;  // the field model's time holds the board's power
  work.flops = facts.cost.flops;
  return work;
}

Work Calibrated::KernelWork(const LeafFacts& facts) const {
  if (facts.fusion) return FusionWork(facts);
  if (facts.scaled_dot) {
    if (const auto field_us = FieldUs(device_, facts)) return ScaledDotWork(facts, *field_us);
  }
  if (facts.cost.own_kernel) return OwnKernelWork(facts);
  if (!facts.matmuls.empty()) {
    const KernelTime time = model_.Time(facts.matmuls.front().On(model_.machine()));
    return ToWork(time, facts.cost, model_.parameters().stream.launch_us);
  }
  Work work = Traffic(static_cast<double>(facts.cost.bytes), facts.instructions);
  work.flops = facts.cost.flops;
  return work;
}

Work Calibrated::Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const {
  // Row-major layouts make a reshape a renaming: XLA turns it into a bitcast.
  if (module.kind(op) == ir::OpKind::kReshape) return {};
  const auto priced = [&](const LeafFacts& facts) {
    NoteUnknown(module, op, facts.cost, notes);
    if (facts.cost.bytes == 0 && facts.cost.flops == 0) return Work{};
    if (facts.dynamic) notes.push_back({NoteKind::kDynamicShape, op, std::string(module.name(op))});
    Work work = WorkOf(facts);
    if (HoldsNoRow(module, op, device_, facts))
      work.variance = std::max(work.variance, std::pow(kSigmaWithoutRow * work.seconds, 2));
    return work;
  };
  const auto make = [&] { return LeafFactsOf(module, op); };
  return facts_ && facts_->module == &module ? priced(facts_->calibrated.Of(op, make)) : priced(make());
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
