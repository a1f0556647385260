#include "assemble/memory/memory_order.h"

#include <optional>
#include <span>
#include <unordered_map>

#include "assemble/memory/aliasing.h"
#include "assemble/memory/operands.h"
#include "graph/memory_orders.h"
#include "ir/walk.h"

namespace hespas::assemble::memory {
namespace {

// The halves of an asynchronous op count as one, with what its end hands out.
class Halves {
 public:
  Halves(const ir::Module& module, std::span<const ir::OpId> ops) : module_(module) {
    for (const ir::OpId op : ops) {
      if (const ir::OpId start = StartOf(op); start.valid()) done_.emplace(start.value, op);
    }
  }

  // The end of what `op` starts; `op` itself where it starts nothing.
  ir::OpId End(ir::OpId op) const {
    const auto found = done_.find(op.value);
    return found == done_.end() ? op : found->second;
  }
  bool IsEnd(ir::OpId op) const {
    const ir::OpId start = StartOf(op);
    return start.valid() && End(start) == op;
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

void Make(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, graph::DagBuilder& builder) {
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

}  // namespace

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes) {
  std::vector<ir::OpId> ops = module.block(block).ops;
  const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
  const ir::OpId terminator = returns ? ops.back() : ir::OpId();
  if (returns) ops.pop_back();
  const Halves halves(module, ops);
  std::erase_if(ops, [&](ir::OpId op) { return halves.IsEnd(op); });
  graph::DagBuilder builder(module.value_count());
  for (const ir::OpId op : ops) {
    VisitOperands(module, op, [&](ir::ValueId value) { builder.Read(value.value); });
    const ir::OpId end = halves.End(op);
    Make(module, op, sizes, builder);
    if (end != op) Make(module, end, sizes, builder);
    builder.EndOp(module.op(end).result_count == 1 && module.type(module.result(end)).element_count() == 1);
  }
  if (returns) {
    for (const ir::ValueId value : module.operands(terminator)) builder.Return(value.value);
  }
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : graph::MemoryOrders(builder.Take())) {
    std::vector<ir::OpId>& ordered = out.emplace_back();
    ordered.reserve(order.size());
    for (const uint32_t i : order) {
      ordered.push_back(ops[i]);
      if (const ir::OpId end = halves.End(ops[i]); end != ops[i]) ordered.push_back(end);
    }
  }
  return out;
}

}  // namespace hespas::assemble::memory
