#include "memory/block_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/attributes/op_attributes.h"
#include "memory/buffers/aliasing.h"
#include "memory/operands.h"

namespace hespas::memory {

using ir::OpKind;

BlockValues::BlockValues(const ir::Module& module, const BlockToAnalyse& what)
    : module_(module), what_(what), end_(static_cast<uint32_t>(what.order.size())) {
  NumberValues();
  FindUses();
  JoinViews();
}

void BlockValues::Number(ir::ValueId value, uint32_t at) {
  const auto number = static_cast<uint32_t>(values_.size());
  if (what_.is_main) {
    dense_[value.index()] = number;
  } else {
    number_.emplace(value.value, number);
  }
  values_.push_back(value);
  defined_.push_back(at);
}

void BlockValues::NumberValues() {
  const size_t usual = module_.block(what_.block).argument_count + what_.order.size();
  values_.reserve(usual);
  defined_.reserve(usual);
  if (what_.is_main) dense_.assign(module_.value_count(), kNever);
  for (const ir::ValueId argument : module_.arguments(what_.block)) Number(argument, 0);
  arguments_ = static_cast<uint32_t>(values_.size());
  for (uint32_t at = 0; at < end_; ++at) {
    for (const ir::ValueId result : module_.results(what_.order[at])) Number(result, at);
  }
  made_at_ = defined_;
  last_use_.assign(values_.size(), 0);
  parent_.resize(values_.size());
  std::iota(parent_.begin(), parent_.end(), 0u);
  // A value is held while it is made, even if nobody uses it.
  for (size_t v = 0; v < values_.size(); ++v) last_use_[v] = defined_[v];
  // What the start of an asynchronous op reads and what its end hands out is busy in between.
  for (uint32_t at = 0; at < end_; ++at) {
    const ir::OpId op = what_.order[at];
    if (module_.kind(op) != OpKind::kAsyncDone) continue;
    const ir::OpId start = AsyncStartOf(module_, op);
    if (!start.valid() || module_.op(start).result_count == 0) continue;
    const uint32_t begin = Find(module_.result(start));
    if (begin == kNever) continue;
    for (const ir::ValueId result : module_.results(op)) defined_[NumberOf(result)] = defined_[begin];
    for (const ir::ValueId operand : module_.operands(start)) Use(operand, at);
  }
}

void BlockValues::Use(ir::ValueId value, uint32_t at) {
  // A tuple holds on to its members.
  todo_.push_back(value);
  while (!todo_.empty()) {
    const uint32_t v = NumberOf(todo_.back());
    todo_.pop_back();
    if (v == kNever || last_use_[v] >= at) continue;
    last_use_[v] = at;
    const ir::OpId producer = module_.defining_op(values_[v]);
    if (producer.valid() && module_.kind(producer) == OpKind::kTuple) {
      const auto members = module_.operands(producer);
      todo_.insert(todo_.end(), members.begin(), members.end());
    }
  }
}

void BlockValues::FindUses() {
  for (uint32_t at = 0; at < end_; ++at) {
    VisitOperands(module_, what_.order[at], [&](ir::ValueId operand) { Use(operand, at); });
  }
  last_read_ = last_use_;
  const auto& ops = module_.block(what_.block).ops;
  if (ops.empty() || !ir::IsTerminator(module_.kind(ops.back()))) return;
  returned_.assign(module_.operands(ops.back()).begin(), module_.operands(ops.back()).end());
  for (const ir::ValueId value : returned_) Use(value, end_);
}

void BlockValues::Join(uint32_t a, uint32_t b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  parent_[b] = a;
  last_use_[a] = std::max(last_use_[a], last_use_[b]);
  last_read_[a] = std::max(last_read_[a], last_read_[b]);
  defined_[a] = std::min(defined_[a], defined_[b]);
}

void BlockValues::JoinViews() {
  for (const ir::OpId op : what_.order) {
    for (size_t i = 0; i < module_.op(op).result_count; ++i) {
      const auto operand = ViewOf(module_, op, i);
      if (!operand) continue;
      const uint32_t from = NumberOf(ViewSource(op, *operand));
      if (from != kNever) Join(from, NumberOf(module_.result(op, i)));
    }
  }
}

ir::ValueId BlockValues::ViewSource(ir::OpId op, size_t operand) const {
  const ir::ValueId value = module_.operands(op)[operand];
  if (module_.kind(op) != OpKind::kGetTupleElement) return value;
  const ir::OpId producer = module_.defining_op(value);
  const auto index = ir::IntegerAttribute(module_, op, "index");
  if (!producer.valid() || module_.kind(producer) != OpKind::kTuple || !index) return value;
  const auto members = module_.operands(producer);
  return *index >= 0 && static_cast<size_t>(*index) < members.size() ? members[static_cast<size_t>(*index)] : value;
}

bool BlockValues::IsTuple(uint32_t v) const {
  const ir::TypeKind kind = module_.type(values_[v]).kind;
  if (kind == ir::TypeKind::kAsyncBundle) return true;
  const ir::OpId producer = module_.defining_op(values_[v]);
  return kind == ir::TypeKind::kTuple && producer.valid() && module_.kind(producer) == OpKind::kTuple;
}

}  // namespace hespas::memory
