#include "memory/order/memory_order.h"

#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/units.h"
#include "ir/walk.h"
#include "memory/buffers/aliasing.h"
#include "memory/operands.h"
#include "optimise/schedule/latency_hiding.h"
#include "optimise/schedule/memory_orders.h"

namespace hespas::memory {
namespace {

// An asynchronous start and its done count as one op, with what the done hands out.
class AsyncPairs {
 public:
  AsyncPairs(const ir::Module& module, std::span<const ir::OpId> ops) : module_(module) {
    for (const ir::OpId op : ops) {
      if (const ir::OpId start = StartOf(op); start.valid()) done_.emplace(start.value, op);
    }
  }

  // The done of what `op` starts; `op` itself where it starts nothing.
  ir::OpId Done(ir::OpId op) const {
    const auto found = done_.find(op.value);
    return found == done_.end() ? op : found->second;
  }
  bool IsDone(ir::OpId op) const {
    const ir::OpId start = StartOf(op);
    return start.valid() && Done(start) == op;
  }

 private:
  ir::OpId StartOf(ir::OpId op) const {
    if (module_.kind(op) != ir::OpKind::kAsyncDone) return ir::OpId();
    const ir::OpId start = module_.defining_op(module_.operands(op)[0]);
    return start.valid() && module_.kind(start) == ir::OpKind::kAsyncStart ? start : ir::OpId();
  }

  const ir::Module& module_;
  std::unordered_map<uint32_t, ir::OpId> done_;  // by start
};

void Make(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, optimise::DagBuilder& builder) {
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

// Ops of a block but its terminator.
std::span<const ir::OpId> OpsOf(const ir::Module& module, ir::BlockId block) {
  const auto& ops = module.block(block).ops;
  const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
  return {ops.data(), ops.size() - (returns ? 1 : 0)};
}

// A program as XLA's latency-hiding scheduler sees it: whole collectives as start and done, of which the start makes
// the results.
class Divided {
 public:
  Divided(const ir::Module& module, std::span<const ir::OpId> ops, const BufferSizes& sizes)
      : module_(module), sizes_(sizes), builder_(module.value_count() + ops.size()), first_(ops.size(), 0) {
    for (size_t i = 0; i < ops.size(); ++i) Add(ops[i], i);
  }

  // `order`: the numbers of the ops in an order of least memory.
  std::vector<uint32_t> Hide(const std::vector<uint32_t>& order) {
    const optimise::Dag dag = builder_.Take();
    std::vector<uint32_t> parts;
    for (const uint32_t i : order) {
      parts.push_back(first_[i]);
      if (roles_[first_[i]] == optimise::Role::kStart) parts.push_back(first_[i] + 1);
    }
    const std::vector<uint32_t> hidden = optimise::HideLatency({.dag = dag,
                                                                .order = parts,
                                                                .roles = roles_,
                                                                .costs = costs_,
                                                                .in_tuple = in_tuple_,
                                                                .memory_limit = optimise::HidingInput::kNoLimit})
                                             .order;
    std::vector<uint32_t> out;
    for (const uint32_t half : hidden) {
      if (roles_[half] != optimise::Role::kDone) out.push_back(op_[half]);
    }
    return out;
  }

 private:
  void Add(ir::OpId op, size_t i) {
    VisitOperands(module_, op, [&](ir::ValueId value) { builder_.Read(value.value); });
    first_[i] = static_cast<uint32_t>(op_.size());
    if (!ir::IsCollective(module_.kind(op))) {
      Make(module_, op, sizes_, builder_);
      return End(op, i, optimise::RoleOf(module_.kind(op)));
    }
    const auto under_way = static_cast<uint32_t>(module_.value_count() + i);
    int64_t bytes = 0;
    for (const ir::ValueId result : module_.results(op)) bytes = internal::SaturatingAdd(bytes, sizes_.Of(result));
    builder_.Make(under_way, bytes);
    End(op, i, optimise::Role::kStart);
    builder_.Read(under_way);
    for (const ir::ValueId result : module_.results(op)) builder_.MakeView(result.value, under_way);
    End(op, i, optimise::Role::kDone);
  }

  void End(ir::OpId op, size_t i, optimise::Role role) {
    builder_.EndOp(false);
    op_.push_back(static_cast<uint32_t>(i));
    roles_.push_back(role);
    const bool whole = role == optimise::Role::kWork || role == optimise::Role::kNothing;
    costs_.push_back(whole ? optimise::TicksOf(module_.kind(op), module_.attribute(op, "fusion_kind")) : 1);
    in_tuple_.push_back(module_.op(op).result_count > 1 || module_.kind(op) == ir::OpKind::kCustomCall);
  }

  const ir::Module& module_;
  const BufferSizes& sizes_;
  optimise::DagBuilder builder_;
  std::vector<uint32_t> first_;  // by op: its node
  std::vector<uint32_t> op_;     // by node, like those that follow
  std::vector<optimise::Role> roles_;
  std::vector<int64_t> costs_;
  std::vector<bool> in_tuple_;
};

}  // namespace

std::vector<ir::OpId> HidingOrder(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes,
                                  std::span<const ir::OpId> least) {
  const std::span<const ir::OpId> ops = OpsOf(module, block);
  std::unordered_map<uint32_t, uint32_t> number;
  for (uint32_t i = 0; i < ops.size(); ++i) number.emplace(ops[i].value, i);
  std::vector<uint32_t> order;
  for (const ir::OpId op : least) order.push_back(number.at(op.value));
  std::vector<ir::OpId> out;
  for (const uint32_t i : Divided(module, ops, sizes).Hide(order)) out.push_back(ops[i]);
  return out;
}

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes) {
  std::vector<ir::OpId> ops = module.block(block).ops;
  const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
  const ir::OpId terminator = returns ? ops.back() : ir::OpId();
  if (returns) ops.pop_back();
  const AsyncPairs pairs(module, ops);
  std::erase_if(ops, [&](ir::OpId op) { return pairs.IsDone(op); });
  optimise::DagBuilder builder(module.value_count());
  for (const ir::OpId op : ops) {
    VisitOperands(module, op, [&](ir::ValueId value) { builder.Read(value.value); });
    const ir::OpId end = pairs.Done(op);
    Make(module, op, sizes, builder);
    if (end != op) Make(module, end, sizes, builder);
    builder.EndOp(module.op(end).result_count == 1 && module.type(module.result(end)).element_count() == 1);
  }
  if (returns) {
    for (const ir::ValueId value : module.operands(terminator)) builder.Return(value.value);
  }
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : optimise::MemoryOrders(builder.Take())) {
    std::vector<ir::OpId>& ordered = out.emplace_back();
    ordered.reserve(order.size());
    for (const uint32_t i : order) {
      ordered.push_back(ops[i]);
      if (const ir::OpId end = pairs.Done(ops[i]); end != ops[i]) ordered.push_back(end);
    }
  }
  return out;
}

}  // namespace hespas::memory
