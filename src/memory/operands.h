// What an op needs before it can run.
#pragma once

#include "ir/walk.h"

namespace hespas::memory {

// Calls `visit` for each operand of the op, and of all ops in its regions; what a fusion reads, it reads as operands.
template <class Visit>
void VisitOperands(const ir::Module& module, ir::OpId op, Visit visit) {
  for (const ir::ValueId value : module.operands(op)) visit(value);
  if (!module.op(op).first_region.valid() || module.kind(op) == ir::OpKind::kFusion) return;
  ir::WalkNested(module, op, [&](ir::OpId nested) {
    for (const ir::ValueId value : module.operands(nested)) visit(value);
  });
}

}  // namespace hespas::memory
