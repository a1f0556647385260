#include "memory/buffers/buffer_sharing.h"

#include <algorithm>

#include "memory/buffers/aliasing.h"

namespace hespas::memory {

using ir::OpKind;

BufferSharing::BufferSharing(const ir::Module& module, const BlockToAnalyse& what) : BlockValues(module, what) {
  reused_by_.assign(values_.size(), kNever);
  reused_directly_.assign(values_.size(), false);
  FindAssignedBuffers();
  ReuseDyingOperands();
  AssignResults();
}

bool BufferSharing::ReadOnly(uint32_t root) const {
  if (root >= arguments_) {
    const ir::OpId producer = module_.defining_op(values_[root]);
    return producer.valid() && module_.kind(producer) == OpKind::kConstant;
  }
  if (what_.is_main) return what_.donation == nullptr || !what_.donation->donated[root];
  return !what_.loop.valid();
}

void BufferSharing::FindAssignedBuffers() {
  assigned_.assign(values_.size(), kNever);
  for (size_t i = 0; i < returned_.size(); ++i) {
    if (const uint32_t value = Find(returned_[i]); value != kNever && value >= arguments_)
      assigned_[value] = AssignedBufferOf(i);
  }
}

bool BufferSharing::MayAssignBuffer(ir::OpId op, size_t i, uint32_t buffer, uint32_t at) {
  if (last_use_[Root(buffer)] > at || (CopiesEarly() && ReadElsewhere(buffer, op, at))) return false;
  if (last_use_[Root(buffer)] < at) return true;
  const auto operands = module_.operands(op);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (Find(operands[k]) == Root(buffer) && UpdatedOperand(module_, op, i) != k && !what_.reuse.May(op, i, k))
      return false;
  }
  return true;
}

bool BufferSharing::ReadElsewhere(uint32_t buffer, ir::OpId op, uint32_t at) {
  std::vector<bool> before(end_, false);
  std::vector<ir::OpId> todo = {op};
  while (!todo.empty()) {
    const auto operands = module_.operands(todo.back());
    todo.pop_back();
    for (const ir::ValueId operand : operands) {
      const uint32_t v = NumberOf(operand);
      if (v == kNever || v < arguments_ || before[made_at_[v]]) continue;
      before[made_at_[v]] = true;
      todo.push_back(what_.order[made_at_[v]]);
    }
  }
  for (uint32_t i = 0; i < end_; ++i) {
    if (i == at || before[i]) continue;
    for (const ir::ValueId operand : module_.operands(what_.order[i])) {
      if (Find(operand) == Root(buffer) && !IsBitcast(what_.order[i])) return true;
    }
  }
  return false;
}

bool BufferSharing::IsBitcast(ir::OpId op) const {
  return module_.op(op).result_count == 1 && ViewOf(module_, op, 0).has_value();
}

bool BufferSharing::Dies(uint32_t v, uint32_t at) {
  const uint32_t root = Root(v);
  return last_use_[root] == at && !ReadOnly(root);
}

void BufferSharing::ReuseDyingOperands() {
  for (uint32_t at = 0; at < end_; ++at) {
    const ir::OpId op = what_.order[at];
    if (module_.kind(op) == OpKind::kWhile) {
      ShareLoopState(op, at);
      continue;
    }
    for (size_t i = 0; i < module_.op(op).result_count; ++i) ReuseDyingOperand(op, i, at);
  }
}

void BufferSharing::ReuseDyingOperand(ir::OpId op, size_t i, uint32_t at) {
  const uint32_t result = NumberOf(module_.result(op, i));
  if (Root(result) != result) return;  // a view
  const uint32_t buffer = assigned_[result];
  const auto operands = module_.operands(op);
  const auto updated = UpdatedOperand(module_, op, i);
  const uint32_t old = updated && *updated < operands.size() ? Find(operands[*updated]) : kNever;
  if (old != kNever && (buffer == kNever || old != Root(buffer)) && Dies(old, at)) {
    Join(old, result);
  } else if (buffer != kNever && MayAssignBuffer(op, i, buffer, at)) {
    AssignChain(op, i, buffer, at);
    AssignBuffer(buffer, result);
  }
  if (!updated) ReuseInPlace(op, i, at);
}

void BufferSharing::AssignChain(ir::OpId op, size_t i, uint32_t buffer, uint32_t at) {
  std::vector<uint32_t> chain;
  uint32_t last = Root(buffer);
  while (last_use_[last] < at) {
    last = reused_by_[last];
    // A copy stays apart from what it copies: XLA would have left it out otherwise.
    if (last == kNever || Root(last) != last || module_.kind(module_.defining_op(values_[last])) == OpKind::kCopy)
      return;
    chain.push_back(last);
  }
  if (last_use_[last] != at) return;
  const auto operands = module_.operands(op);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (Find(operands[k]) != last || !what_.reuse.May(op, i, k)) continue;
    for (const uint32_t step : chain) Join(buffer, step);
    return;
  }
}

void BufferSharing::ReuseInPlace(ir::OpId op, size_t i, uint32_t at) {
  const uint32_t result = NumberOf(module_.result(op, i));
  const auto operands = module_.operands(op);
  bool taken = false;
  for (size_t k = 0; k < operands.size(); ++k) {
    const uint32_t from = Find(operands[k]);
    if (from == kNever || !Dies(from, at) || reused_by_[from] != kNever) continue;
    if (what_.sizes.Of(values_[from]) != what_.sizes.Of(module_.result(op, i))) continue;
    if (!what_.reuse.May(op, i, k)) continue;
    reused_by_[from] = result;
    reused_directly_[from] = !taken && values_[from] == operands[k] && IsOnlyResult(operands[k]);
    taken = taken || reused_directly_[from];
  }
}

bool BufferSharing::IsOnlyResult(ir::ValueId value) const {
  const ir::OpId producer = module_.defining_op(value);
  if (!producer.valid()) return what_.is_main;
  if (module_.op(producer).result_count != 1) return false;
  return !what_.policy.calls_are_tuples || !what_.reuse.ReturnsWorkspace(producer);
}

void BufferSharing::AssignBuffer(uint32_t buffer, uint32_t result) {
  Donate(buffer, {.from = defined_[result], .until = end_, .owner = result});
  Join(buffer, result);
}

void BufferSharing::Donate(uint32_t buffer, const Span& taken) {
  const uint32_t until = last_use_[Root(buffer)];
  if (until < taken.from) donated_.push_back({what_.sizes.Of(values_[buffer]), {{.from = 0, .until = until}, taken}});
}

void BufferSharing::ShareLoopState(ir::OpId op, uint32_t at) {
  const ir::BlockId body = module_.body(op, 1);
  const auto operands = module_.operands(op);
  for (size_t i = 0; i < operands.size() && i < module_.op(op).result_count; ++i) {
    const uint32_t from = Find(operands[i]);
    if (from == kNever) continue;
    const bool unchanged = body.valid() && i < module_.block(body).argument_count &&
                           Returned(module_, body, i) == module_.arguments(body)[i];
    if (unchanged || Dies(from, at)) Join(from, NumberOf(module_.result(op, i)));
  }
}

void BufferSharing::AssignResults() {
  for (size_t i = 0; i < returned_.size(); ++i) {
    const uint32_t buffer = AssignedBufferOf(i);
    const uint32_t value = Find(returned_[i]);
    if (buffer == kNever || value == kNever || value < arguments_) continue;
    if (last_use_[Root(buffer)] < defined_[value]) {
      AssignBuffer(buffer, value);
    } else if (std::count(returned_.begin(), returned_.end(), returned_[i]) == 1) {
      last_use_[value] = std::max({last_read_[value], defined_[value], last_use_[Root(buffer)]});
      Donate(buffer, {.from = last_use_[value] + 1, .until = end_});
    }
  }
}

uint32_t BufferSharing::AssignedBufferOf(size_t result) const {
  if (what_.is_main && what_.donation != nullptr && result < what_.donation->argument_of_result.size()) {
    return what_.donation->argument_of_result[result];
  }
  return what_.loop.valid() && result < arguments_ ? static_cast<uint32_t>(result) : kNever;
}

}  // namespace hespas::memory
