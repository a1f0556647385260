#include "memory/order/memory_order.h"

#include <span>

#include "base/units.h"
#include "ir/walk.h"
#include "memory/operands.h"
#include "memory/order/block_dag.h"
#include "optimise/schedule/latency_hiding.h"
#include "optimise/schedule/memory_orders.h"

namespace hespas::memory {
namespace {

// A program as XLA's latency-hiding scheduler sees it: whole collectives as start and done, of which the start makes
// the results.
class Divided {
 public:
  Divided(const ir::Module& module, std::span<const ir::OpId> ops, const BufferSizes& sizes)
      : module_(module), sizes_(sizes), builder_(module.value_count() + ops.size()), first_(ops.size(), 0) {
    for (size_t i = 0; i < ops.size(); ++i) Add(ops[i], i);
  }

  // `order`: the numbers of the ops in an order of least memory.
  std::vector<uint32_t> Hide(const std::vector<uint32_t>& order, int64_t limit) {
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
                                                                .memory_limit = limit})
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
      MakeResults(module_, op, sizes_, builder_);
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
                                  std::span<const ir::OpId> least, int64_t limit) {
  const std::span<const ir::OpId> ops = OpsOf(module, block);
  std::unordered_map<uint32_t, uint32_t> number;
  for (uint32_t i = 0; i < ops.size(); ++i) number.emplace(ops[i].value, i);
  std::vector<uint32_t> order;
  for (const ir::OpId op : least) order.push_back(number.at(op.value));
  std::vector<ir::OpId> out;
  for (const uint32_t i : Divided(module, ops, sizes).Hide(order, limit)) out.push_back(ops[i]);
  return out;
}

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes) {
  const BlockDag graph(module, block, sizes);
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : optimise::MemoryOrders(graph.dag())) out.push_back(graph.OpsIn(order));
  return out;
}

}  // namespace hespas::memory
