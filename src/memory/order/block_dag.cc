#include "memory/order/block_dag.h"

#include <optional>

#include "ir/walk.h"
#include "memory/buffers/aliasing.h"
#include "memory/operands.h"

namespace hespas::memory {
namespace {

// Of a done; invalid for other ops.
ir::OpId StartOf(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) != ir::OpKind::kAsyncDone) return ir::OpId();
  const ir::OpId start = module.defining_op(module.operands(op)[0]);
  return start.valid() && module.kind(start) == ir::OpKind::kAsyncStart ? start : ir::OpId();
}

}  // namespace

std::span<const ir::OpId> OpsOf(const ir::Module& module, ir::BlockId block) {
  const auto& ops = module.block(block).ops;
  const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
  return {ops.data(), ops.size() - (returns ? 1 : 0)};
}

void MakeResults(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, optimise::DagBuilder& builder) {
  for (size_t r = 0; r < module.op(op).result_count; ++r) {
    const ir::ValueId result = module.result(op, r);
    const auto view = module.kind(op) == ir::OpKind::kAsyncDone ? std::nullopt : ViewOf(module, op, r);
    const bool free =
        module.kind(op) == ir::OpKind::kConstant || module.type(result).kind == ir::TypeKind::kAsyncBundle;
    if (view) {
      builder.MakeView(result.value, module.operands(op)[*view].value);
    } else {
      builder.Make(result.value, free ? 0 : sizes.Of(result));
    }
  }
}

BlockDag::BlockDag(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes) {
  const std::span<const ir::OpId> all = OpsOf(module, block);
  for (const ir::OpId op : all) {
    if (const ir::OpId start = StartOf(module, op); start.valid()) done_.emplace(start.value, op);
  }
  optimise::DagBuilder builder(module.value_count());
  for (const ir::OpId op : all) {
    const ir::OpId start = StartOf(module, op);
    if (!start.valid() || done_.at(start.value) != op) Add(module, op, sizes, builder);
  }
  if (const auto& ops = module.block(block).ops; all.size() < ops.size()) {
    for (const ir::ValueId value : module.operands(ops.back())) builder.Return(value.value);
  }
  dag_ = builder.Take();
}

void BlockDag::Add(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, optimise::DagBuilder& builder) {
  number_.emplace(op.value, static_cast<uint32_t>(ops_.size()));
  ops_.push_back(op);
  VisitOperands(module, op, [&](ir::ValueId value) { builder.Read(value.value); });
  MakeResults(module, op, sizes, builder);
  const auto done = done_.find(op.value);
  const ir::OpId end = done == done_.end() ? op : done->second;
  if (end != op) MakeResults(module, end, sizes, builder);
  builder.EndOp(module.op(end).result_count == 1 && module.type(module.result(end)).element_count() == 1);
}

std::vector<ir::OpId> BlockDag::OpsIn(const std::vector<uint32_t>& order) const {
  std::vector<ir::OpId> out;
  out.reserve(ops_.size() + done_.size());
  for (const uint32_t number : order) {
    out.push_back(ops_[number]);
    if (const auto done = done_.find(ops_[number].value); done != done_.end()) out.push_back(done->second);
  }
  return out;
}

std::vector<uint32_t> BlockDag::NumbersOf(std::span<const ir::OpId> order) const {
  std::vector<uint32_t> out;
  out.reserve(ops_.size());
  for (const ir::OpId op : order) {
    if (const auto number = number_.find(op.value); number != number_.end()) out.push_back(number->second);
  }
  return out;
}

}  // namespace hespas::memory
