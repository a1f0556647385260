// Which classes of a block's values come to lie in one buffer: results over operands that end, next values of loops and
// donated arguments over the present ones.
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
  // Where results of the block have to end up.
  void FindHomes();
  // Whether the op may write its result over the argument that is its home.
  bool MayGoHome(ir::OpId op, size_t i, uint32_t home, uint32_t at);
  // Whether an op that `op` does not wait for reads what lies in `home`: XLA decides on copies before it has an order.
  bool ReadElsewhere(uint32_t home, ir::OpId op, uint32_t at);
  bool IsViewOnly(ir::OpId op) const;
  bool Dies(uint32_t v, uint32_t at);
  void JoinDying();
  void JoinOneDying(ir::OpId op, size_t i, uint32_t at);
  // Marks the operands of the result's size that end here and may be written over; of two temporaries the first is.
  void TakeOver(ir::OpId op, size_t i, uint32_t at);
  // XLA's heap sees a buffer's next user only where that names the op that made it, not an element of its tuple.
  bool IsOnlyResult(ir::ValueId value) const;
  // The result lies in the argument's buffer, which is free from the argument's last use until then.
  // What is written over the old value, step by step until result `i` of `op` is, lies in its buffer.
  void JoinChain(ir::OpId op, size_t i, uint32_t home, uint32_t at);
  void GoHome(uint32_t home, uint32_t result);
  void Lend(uint32_t home, const Span& taken);
  // What a loop carries stays in one buffer; an operand that is needed later and changed by the loop is copied first.
  void JoinCarried(ir::OpId op, uint32_t at);
  // Results of `main` that fit into donated buffers, next values of a loop that fit into the present ones. The others
  // are copied there once nobody needs what is there.
  void JoinResults();
  uint32_t HomeOf(size_t result) const;

  std::vector<uint32_t> taker_;       // by root: whose buffer it becomes when it ends
  std::vector<bool> taken_directly_;  // by root: the taker's operand is the op that made it
  std::vector<Home> lent_;            // arguments' buffers before their next values are made
  std::vector<uint32_t> home_;        // argument that a returned value has to lie in, by number
};

}  // namespace hespas::memory
