// Walks everything nested in an op, in program order, without recursion.
#pragma once

#include <vector>

#include "ir/module.h"

namespace hespas::ir {

// Calls on_block(BlockId) before a nested block's ops and on_op(OpId) for each nested op (before what it holds itself).
// The op itself is not visited.
template <class OnBlock, class OnOp>
void WalkNested(const Module& module, OpId op, OnBlock&& on_block, OnOp&& on_op) {
  struct Frame {
    BlockId block;
    size_t next;
  };
  std::vector<Frame> stack;
  const auto first_block = [&](RegionId region) {
    while (region.valid() && !module.region(region).first_block.valid()) region = module.region(region).next;
    return region.valid() ? module.region(region).first_block : BlockId();
  };
  const auto enter = [&](RegionId region) {
    const BlockId block = first_block(region);
    if (!block.valid()) return;
    on_block(block);
    stack.push_back({block, 0});
  };
  enter(module.op(op).first_region);
  while (!stack.empty()) {
    Frame& top = stack.back();
    const Block& block = module.block(top.block);
    if (top.next < block.ops.size()) {
      const OpId inner = block.ops[top.next++];
      on_op(inner);
      enter(module.op(inner).first_region);
      continue;
    }
    const BlockId next = block.next.valid() ? block.next : first_block(module.region(block.region).next);
    if (next.valid()) {
      on_block(next);
      top = {next, 0};
    } else {
      stack.pop_back();
    }
  }
}

template <class OnOp>
void WalkNested(const Module& module, OpId op, OnOp&& on_op) {
  WalkNested(
      module, op, [](BlockId) {}, std::forward<OnOp>(on_op));
}

}  // namespace hespas::ir
