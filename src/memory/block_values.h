// Values of one block, numbered, in classes that share a buffer, with when each is made and read last.
//
// - Arguments come first, then results in the order in which the ops run; positions are those of that order.
// - What is a view of a value, or an element of a tuple made here, is in its class.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/liveness.h"

namespace hespas::memory {

class BlockValues {
 protected:
  static constexpr uint32_t kNever = 0xFFFFFFFFu;

  BlockValues(const ir::Module& module, const BlockToAnalyse& what);

  void Number(ir::ValueId value, uint32_t at);
  void NumberValues();
  uint32_t NumberOf(ir::ValueId value) const {
    if (what_.is_main) return dense_[value.index()];
    const auto found = number_.find(value.value);
    return found == number_.end() ? kNever : found->second;
  }
  uint32_t Find(ir::ValueId value) {
    const uint32_t v = NumberOf(value);
    return v == kNever ? kNever : Root(v);
  }
  uint32_t Root(uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void Use(ir::ValueId value, uint32_t at);
  void FindUses();
  // The class keeps the earlier member's number as its root.
  void Join(uint32_t a, uint32_t b);
  void JoinViews();
  // The member that a tuple's element is, where the tuple was made here.
  ir::ValueId ViewSource(ir::OpId op, size_t operand) const;
  // Tuples and asynchronous bundles only name their members.
  bool IsTuple(uint32_t v) const;

  const ir::Module& module_;
  const BlockToAnalyse& what_;
  uint32_t end_;                     // position of the terminator
  std::vector<ir::ValueId> values_;  // by number
  uint32_t arguments_ = 0;
  std::vector<uint32_t> defined_;
  std::vector<uint32_t> made_at_;  // defined_ as numbered
  std::vector<uint32_t> last_use_;
  std::vector<uint32_t> last_read_;  // last_use_ without the terminator's
  std::vector<uint32_t> parent_;
  std::vector<ir::ValueId> returned_;

 private:
  std::unordered_map<uint32_t, uint32_t> number_;  // by value; of main, which has most of them, dense_
  std::vector<uint32_t> dense_;
  std::vector<ir::ValueId> todo_;  // of Use
};

}  // namespace hespas::memory
