// Which of a block's values share one buffer: results reuse operands that end, and the next values of loops and donated
// arguments reuse the present ones.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/block_values.h"
#include "memory/buffers/share_results.h"

namespace hespas::memory {

class BufferSharing : protected BlockValues {
 protected:
  BufferSharing(const ir::Module& module, const BlockToAnalyse& what);

  // Buffers of the caller that it wants to see unchanged.
  bool ReadOnly(uint32_t root) const;
  // Buffers that the results of the block are assigned to.
  void FindAssignedBuffers();
  // Whether the op may write its result over the argument whose buffer it is assigned to.
  bool MayAssignBuffer(ir::OpId op, size_t i, uint32_t buffer, uint32_t at);
  // What a region hands on is copied where its order alone keeps it from being overwritten too soon.
  bool CopiesEarly() const { return !what_.is_main && what_.policy.order == RunOrder::kBreadthFirst; }
  // Whether an op that `op` does not wait for reads `buffer`: XLA decides on copies before it has an order.
  bool ReadElsewhere(uint32_t buffer, ir::OpId op, uint32_t at);
  bool IsBitcast(ir::OpId op) const;
  bool Dies(uint32_t v, uint32_t at);
  void ReuseDyingOperands();
  void ReuseDyingOperand(ir::OpId op, size_t i, uint32_t at);
  // Marks the operands of the result's size that end here and may be written over; of two temporaries the first is.
  void ReuseInPlace(ir::OpId op, size_t i, uint32_t at);
  // XLA's heap sees a buffer's next user only where that names the op that made it, not an element of its tuple.
  bool IsOnlyResult(ir::ValueId value) const;
  // Values that are written over the old one, step by step until result `i` of `op`, share its buffer.
  void AssignChain(ir::OpId op, size_t i, uint32_t buffer, uint32_t at);
  // The result is in the argument's buffer, which others may use from the argument's last use until then.
  void AssignBuffer(uint32_t buffer, uint32_t result);
  void Donate(uint32_t buffer, const Span& taken);
  // What a loop carries stays in one buffer; an operand that is needed later and changed by the loop is copied first.
  void ShareLoopState(ir::OpId op, uint32_t at);
  // Results of `main` that fit into donated buffers, next values of a loop that fit into the present ones. The others
  // are copied there once nobody needs what is there.
  void AssignResults();
  uint32_t AssignedBufferOf(size_t result) const;

  std::vector<uint32_t> reused_by_;      // by root: the value that reuses its buffer when it ends
  std::vector<bool> reused_directly_;    // by root: that value's operand is the op that made it
  std::vector<ReusableBuffer> donated_;  // arguments' buffers before their next values are made
  std::vector<uint32_t> assigned_;       // by number: argument whose buffer a returned value is assigned to
};

}  // namespace hespas::memory
