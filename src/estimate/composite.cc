#include "estimate/composite.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/execution/trip_count.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingMultiply;
using ir::OpKind;
using ir::OpSort;

}  // namespace

Work& Work::operator+=(const Work& other) {
  seconds += other.seconds;
  variance += other.variance;
  compute_seconds += other.compute_seconds;
  limited_seconds += other.limited_seconds;
  memory_seconds += other.memory_seconds;
  launch_seconds += other.launch_seconds;
  flops = SaturatingAdd(flops, other.flops);
  bytes = SaturatingAdd(bytes, other.bytes);
  models |= other.models;
  return *this;
}

// Errors of equal ops are the same error: their deviations add, not their variances.
Work Work::Times(int64_t count) const {
  const auto n = static_cast<double>(count);
  return {.seconds = n * seconds,
          .variance = n * n * variance,
          .compute_seconds = n * compute_seconds,
          .limited_seconds = n * limited_seconds,
          .memory_seconds = n * memory_seconds,
          .launch_seconds = n * launch_seconds,
          .flops = SaturatingMultiply(count, flops),
          .bytes = SaturatingMultiply(count, bytes),
          .models = models};
}

Work Work::Scaled(double share) const {
  const auto part = [share](int64_t count) { return internal::SaturatingRound(share * static_cast<double>(count)); };
  return {.seconds = share * seconds,
          .variance = share * share * variance,
          .compute_seconds = share * compute_seconds,
          .limited_seconds = share * limited_seconds,
          .memory_seconds = share * memory_seconds,
          .launch_seconds = share * launch_seconds,
          .flops = part(flops),
          .bytes = part(bytes)};
}

bool IsCompositeOp(const ir::Module& module, ir::OpId op) {
  switch (ir::Traits(module.kind(op)).sort) {
    case OpSort::kControl:
    case OpSort::kCall:
      return true;
    case OpSort::kAsync:
      return module.kind(op) == OpKind::kAsyncStart;
    default:
      return false;
  }
}

ir::OpId CompositeEvaluator::Callee(ir::OpId op) const {
  for (const std::string_view name : {"callee", "called_computation", "decomposition"}) {
    const std::string_view* text = module_.attribute(op, name);
    if (text != nullptr) return module_.FindSymbol(ir::AsSymbol(*text));
  }
  return ir::OpId();
}

void CompositeEvaluator::Push(ir::OpId owner) {
  Frame frame;
  frame.owner = owner;
  frame.region = module_.op(owner).first_region;
  if (frame.region.valid()) frame.block = module_.region(frame.region).first_block;
  stack_.push_back(std::move(frame));
}

Work CompositeEvaluator::Combine(ir::OpId op, const std::vector<Work>& regions) {
  Work total;
  if (module_.kind(op) == OpKind::kWhile) {
    const std::optional<int64_t> trips = ir::TripCount(module_, op);
    for (size_t i = ir::TestsEachIteration(module_, op) ? 0 : 1; i < regions.size(); ++i) total += regions[i];
    if (!trips) notes_.push_back({NoteKind::kUnknownTripCount, op, "while"});
    return total.Times(trips.value_or(1));
  }
  if (ir::Traits(module_.kind(op)).sort == OpSort::kControl) {
    if (const auto expected = ExpectedBranch(op, regions)) return *expected;
    for (const Work& region : regions) {
      if (region.seconds > total.seconds) total = region;
    }
    return total;
  }
  for (const Work& region : regions) total += region;
  return total;
}

// The mean over branches whose probabilities are given.
std::optional<Work> CompositeEvaluator::ExpectedBranch(ir::OpId op, const std::vector<Work>& regions) const {
  const std::string_view* text = module_.attribute(op, "hespas.branch_probabilities");
  if (text == nullptr) return std::nullopt;
  Work total;
  size_t i = 0;
  for (const std::string_view item : ir::ListItems(*text)) {
    const auto probability = ir::AsFloat(item);
    if (!probability || i >= regions.size()) return std::nullopt;
    total += regions[i++].Scaled(*probability);
  }
  return total;
}

// Adds a finished sum to the op that waits for it, or makes it the result.
void CompositeEvaluator::Deliver(const Work& work, Work& result) {
  if (stack_.empty()) {
    result = work;
  } else {
    stack_.back().running += work;
  }
}

bool CompositeEvaluator::Step(Work& result) {
  Frame& top = stack_.back();
  if (top.block.valid() && top.next < module_.block(top.block).ops.size()) {
    const ir::OpId op = module_.block(top.block).ops[top.next++];
    if (!IsCompositeOp(module_, op)) {
      top.running += leaves_.Leaf(module_, op, notes_);
      return true;
    }
    const ir::OpId callee = Callee(op);
    if (!callee.valid()) {
      Push(op);
      return true;
    }
    const auto [found, is_new] = functions_.try_emplace(callee.value);
    if (is_new) {
      Push(callee);
    } else {
      top.running += found->second;
    }
    return true;
  }
  if (top.block.valid()) {
    // Only the first block of a region runs: StableHLO regions have one.
    top.done.push_back(top.running);
    top.running = {};
    top.next = 0;
    top.region = module_.region(top.region).next;
    top.block = top.region.valid() ? module_.region(top.region).first_block : ir::BlockId();
    if (top.block.valid()) return true;
  }
  const Frame finished = std::move(stack_.back());
  stack_.pop_back();
  const Work total = Combine(finished.owner, finished.done);
  if (module_.kind(finished.owner) == OpKind::kFunc) functions_[finished.owner.value] = total;
  Deliver(total, result);
  return !stack_.empty();
}

Work CompositeEvaluator::Op(ir::OpId op) {
  if (!IsCompositeOp(module_, op)) return leaves_.Leaf(module_, op, notes_);
  const ir::OpId callee = Callee(op);
  if (callee.valid()) {
    const auto [found, is_new] = functions_.try_emplace(callee.value);
    if (!is_new) return found->second;
  }
  Push(callee.valid() ? callee : op);
  Work result;
  while (Step(result)) {
  }
  return result;
}

graph::Estimate ToEstimate(const Work& work, std::string_view source) {
  graph::Estimate estimate{.time = Time::Seconds(std::max(work.seconds, 0.0)),
                           .sigma = Time::Seconds(std::sqrt(work.variance)),
                           .flops = Flops(work.flops),
                           .bytes = Bytes(work.bytes),
                           .limited = Time::Seconds(work.limited_seconds),
                           .source = source};
  if (work.seconds > 0) {
    estimate.bound = work.compute_seconds >= work.memory_seconds ? graph::Bound::kCompute : graph::Bound::kMemory;
    if (work.launch_seconds > std::max(work.compute_seconds, work.memory_seconds))
      estimate.bound = graph::Bound::kLaunch;
  }
  estimate.terms = {{graph::kComputeTerm, Time::Seconds(work.compute_seconds)},
                    {graph::kMemoryTerm, Time::Seconds(work.memory_seconds)}};
  if (work.launch_seconds > 0) estimate.terms.push_back({graph::kLaunchTerm, Time::Seconds(work.launch_seconds)});
  return estimate;
}

}  // namespace hespas::estimate
