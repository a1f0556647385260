#include "memory/category.h"

#include <algorithm>

#include "ir/facts/execution/async_start.h"
#include "ir/walk.h"
#include "memory/buffers/aliasing.h"

namespace hespas::memory {
namespace {

using ir::OpKind;
using ir::OpSort;
using result::MemoryCategory;

bool IsMatmul(const ir::Module& module, ir::OpId op) {
  const OpKind kind = module.kind(op);
  if (ir::Traits(kind).sort == OpSort::kContraction || ir::Traits(kind).sort == OpSort::kGather) return true;
  if (kind != OpKind::kCustomCall) return false;
  const std::string_view* target = module.attribute(op, "call_target_name");
  return target != nullptr &&
         (target->find("gemm") != std::string_view::npos || target->find("conv") != std::string_view::npos ||
          target->find("matmul") != std::string_view::npos);
}

bool HoldsMatmul(const ir::Module& module, ir::OpId op) {
  bool found = IsMatmul(module, op);
  if (!found && module.op(op).first_region.valid()) {
    ir::WalkNested(module, op, [&](ir::OpId inner) { found |= IsMatmul(module, inner); });
  }
  return found;
}

bool IsCommunication(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) == OpKind::kAsyncDone || module.kind(op) == OpKind::kAsyncStart) {
    const ir::OpId start = AsyncStartOf(module, op);
    return start.valid() && ir::CollectiveInside(module, start).valid();
  }
  return ir::IsCollective(module.kind(op)) || ir::Traits(module.kind(op)).sort == OpSort::kTransfer;
}

// Marks what flows into marked values.
void Backwards(const ir::Module& module, std::span<const ir::OpId> order, const std::vector<bool>& sinks,
               std::vector<bool>& marked) {
  for (size_t at = order.size(); at-- > 0;) {
    const ir::OpId op = order[at];
    bool marks = sinks[at];
    for (const ir::ValueId result : module.results(op)) marks = marks || marked[result.index()];
    if (!marks) continue;
    for (const ir::ValueId operand : module.operands(op)) marked[operand.index()] = true;
    if (!module.op(op).first_region.valid() || module.kind(op) == OpKind::kFusion) continue;
    ir::WalkNested(module, op, [&](ir::OpId inner) {
      for (const ir::ValueId operand : module.operands(inner)) marked[operand.index()] = true;
    });
  }
}

}  // namespace

Categories::Categories(const ir::Module& module, std::span<const ir::OpId> order, const Donation& donation)
    : module_(module),
      donation_(donation),
      block_(module.body(module.main())),
      feeds_matmul_(module.value_count(), false),
      feeds_donated_(module.value_count(), false),
      of_(module.value_count(), MemoryCategory::kTemporaries) {
  std::vector<bool> matmuls(order.size());
  for (size_t at = 0; at < order.size(); ++at) matmuls[at] = HoldsMatmul(module, order[at]);
  Backwards(module, order, matmuls, feeds_matmul_);
  for (size_t r = 0; r < donation.argument_of_result.size(); ++r) {
    if (donation.argument_of_result[r] == Donation::kNone) continue;
    feeds_donated_[Returned(module, block_, r).index()] = true;
  }
  Backwards(module, order, std::vector<bool>(order.size(), false), feeds_donated_);
  MarkArguments();
  MarkValues(order);
}

void Categories::MarkArguments() {
  std::vector<bool> left_side(module_.value_count(), false);  // of a matmul
  for (const ir::OpId op : module_.block(block_).ops) {
    if (ir::Traits(module_.kind(op)).sort != OpSort::kContraction || module_.op(op).operand_count == 0) continue;
    left_side[module_.operands(op)[0].index()] = true;
  }
  size_t i = 0;
  for (const ir::ValueId argument : module_.arguments(block_)) {
    const bool donated = donation_.donated[i++];
    MemoryCategory& category = of_[argument.index()];
    if (donated) {
      category = feeds_matmul_[argument.index()] ? MemoryCategory::kParameters : MemoryCategory::kOptimiserState;
    } else {
      category =
          left_side[argument.index()] || IsInput(argument) ? MemoryCategory::kInputs : MemoryCategory::kParameters;
    }
  }
}

bool Categories::IsInput(ir::ValueId argument) const {
  const ir::ElementKind kind = module_.type(argument).element.kind;
  if (kind == ir::ElementKind::kInteger || kind == ir::ElementKind::kSigned || kind == ir::ElementKind::kUnsigned) {
    return true;
  }
  return !feeds_matmul_[argument.index()];
}

void Categories::MarkValues(std::span<const ir::OpId> order) {
  const auto gradient = [&](ir::OpId op) {
    for (const ir::ValueId value : module_.results(op)) {
      if (feeds_donated_[value.index()] && !feeds_matmul_[value.index()]) return true;
    }
    return false;
  };
  // The first matmul whose result no further matmul needs starts the gradients.
  size_t first = order.size();
  for (size_t at = 0; at < order.size() && first == order.size(); ++at) {
    if (HoldsMatmul(module_, order[at]) && gradient(order[at])) first = at;
  }
  std::vector<bool> used_later(module_.value_count(), false);
  for (size_t at = first; at < order.size(); ++at) {
    for (const ir::ValueId operand : module_.operands(order[at])) used_later[operand.index()] = true;
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const ir::OpId op = order[at];
    const bool communication = IsCommunication(module_, op);
    for (const ir::ValueId value : module_.results(op)) {
      MemoryCategory& category = of_[value.index()];
      if (at >= first && feeds_donated_[value.index()] && !feeds_matmul_[value.index()]) {
        category = MemoryCategory::kGradients;
      } else if (communication) {
        category = MemoryCategory::kCommunication;
      } else if (at < first && used_later[value.index()]) {
        category = MemoryCategory::kActivations;
      }
    }
  }
  for (size_t r = 0; r < donation_.argument_of_result.size(); ++r) {
    const ir::ValueId value = Returned(module_, block_, r);
    if (donation_.argument_of_result[r] == Donation::kNone && module_.defining_op(value).valid()) {
      of_[value.index()] = MemoryCategory::kOutputs;
    }
  }
}

MemoryCategory Categories::OfNested(ir::ValueId value) const {
  const ir::OpId op = module_.defining_op(value);
  return op.valid() && IsCommunication(module_, op) ? MemoryCategory::kCommunication : MemoryCategory::kTemporaries;
}

}  // namespace hespas::memory
