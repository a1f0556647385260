// Which results of an op are in the buffers of its operands.
//
// - A view always does: a bitcast, a tuple's element, the end of an asynchronous op.
// - An update in place does where the operand is not needed any more, otherwise a copy is made first.
// - An elementwise op may take over an operand of its size that is not needed any more.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace hespas::memory {

// The operand that result `i` is a view of.
std::optional<size_t> ViewOf(const ir::Module& module, ir::OpId op, size_t result);

// The operand that result `i` updates.
std::optional<size_t> UpdatedOperand(const ir::Module& module, ir::OpId op, size_t result);

// Whether result `i` may be written over operand `operand`: each element is read where it is written.
// `on_cpu`: XLA's CPU compiler does not see that reshapes inside a fusion move nothing.
bool MayReuseInPlace(const ir::Module& module, ir::OpId op, size_t result, size_t operand, bool on_cpu);

// The same for one module, asked again for each order of its ops: each answer is looked for once.
class InPlaceReuse {
 public:
  InPlaceReuse(const ir::Module& module, bool on_cpu) : module_(module), on_cpu_(on_cpu) {}
  bool May(ir::OpId op, size_t result, size_t operand);

 private:
  const ir::Module& module_;
  bool on_cpu_;
  std::unordered_map<uint32_t, std::vector<std::optional<bool>>> known_;  // of fusions, by result and operand
};

// The start of an asynchronous op for its end or update; invalid for other ops.
ir::OpId AsyncStartOf(const ir::Module& module, ir::OpId op);

// What a loop's body or an op's region hands on as result `index`; invalid where there is none.
ir::ValueId Returned(const ir::Module& module, ir::BlockId block, size_t index);

}  // namespace hespas::memory
