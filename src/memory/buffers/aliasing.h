// Which results of an op are in the buffers of its operands.
//
// - A view always does: a bitcast, a tuple's element, the end of an asynchronous op.
// - An update in place does where the operand is not needed any more, otherwise a copy is made first.
// - An elementwise op may reuse an operand of its size in place that is not needed any more.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "ir/module.h"

namespace hespas::memory {

// The operand that result `i` is a view of.
std::optional<size_t> ViewOf(const ir::Module& module, ir::OpId op, size_t result);

// The operand that result `i` updates.
std::optional<size_t> UpdatedOperand(const ir::Module& module, ir::OpId op, size_t result);

// Which results may be written over which operands: each element is read where it is written. The answers do not depend
// on the order of a module's ops, and are kept from one order to the next.
class InPlaceReuse {
 public:
  // `sees_reshapes`: as BufferPolicy says.
  InPlaceReuse(const ir::Module& module, bool sees_reshapes) : module_(module), sees_reshapes_(sees_reshapes) {}
  bool May(ir::OpId op, size_t result, size_t operand);
  // As buffers/workspace.h says.
  bool ReturnsWorkspace(ir::OpId op);

 private:
  bool IsPointwise(ir::OpId fusion, size_t result, size_t operand) const;

  const ir::Module& module_;
  bool sees_reshapes_;
  std::map<std::tuple<ir::OpId, size_t, size_t>, bool> fusions_;  // by result and operand
  std::unordered_map<uint32_t, bool> calls_;                      // which return a workspace, by op
};

// The start of an asynchronous op for its end or update; invalid for other ops.
ir::OpId AsyncStartOf(const ir::Module& module, ir::OpId op);

// What a loop's body or an op's region hands on as result `index`; invalid where there is none.
ir::ValueId Returned(const ir::Module& module, ir::BlockId block, size_t index);

}  // namespace hespas::memory
