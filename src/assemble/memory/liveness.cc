#include "assemble/memory/liveness.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "assemble/memory/aliasing.h"
#include "assemble/memory/operands.h"
#include "assemble/memory/scratch.h"
#include "assemble/memory/share_results.h"
#include "base/units.h"
#include "ir/op_attributes.h"
#include "ir/walk.h"

namespace hespas::assemble::memory {
namespace {

using ir::OpKind;

constexpr uint32_t kNever = 0xFFFFFFFFu;

// Values of one block, numbered, in classes that share a buffer.
class Analysis {
 public:
  Analysis(const ir::Module& module, const BlockToAnalyse& what, const InsideByOp& inside)
      : module_(module), what_(what), inside_(inside), end_(static_cast<uint32_t>(what.order.size())) {}

  Liveness Run() {
    NumberValues();
    FindUses();
    taker_.assign(values_.size(), kNever);
    taken_directly_.assign(values_.size(), false);
    JoinViews();
    FindHomes();
    JoinDying();
    JoinResults();
    return Collect();
  }

 private:
  void Number(ir::ValueId value, uint32_t at) {
    const auto number = static_cast<uint32_t>(values_.size());
    if (what_.is_main) {
      dense_[value.index()] = number;
    } else {
      number_.emplace(value.value, number);
    }
    values_.push_back(value);
    defined_.push_back(at);
  }

  void NumberValues() {
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

  void Use(ir::ValueId value, uint32_t at) {
    // A tuple holds on to its members.
    todo_.push_back(value);
    while (!todo_.empty()) {
      const uint32_t v = NumberOf(todo_.back());
      todo_.pop_back();
      if (v == kNever || last_use_[v] >= at) continue;
      last_use_[v] = at;
      const ir::OpId maker = module_.defining_op(values_[v]);
      if (maker.valid() && module_.kind(maker) == OpKind::kTuple) {
        const auto members = module_.operands(maker);
        todo_.insert(todo_.end(), members.begin(), members.end());
      }
    }
  }

  void FindUses() {
    for (uint32_t at = 0; at < end_; ++at) {
      VisitOperands(module_, what_.order[at], [&](ir::ValueId operand) { Use(operand, at); });
    }
    last_read_ = last_use_;
    const auto& ops = module_.block(what_.block).ops;
    if (ops.empty() || !ir::IsTerminator(module_.kind(ops.back()))) return;
    returned_.assign(module_.operands(ops.back()).begin(), module_.operands(ops.back()).end());
    for (const ir::ValueId value : returned_) Use(value, end_);
  }

  // The class keeps the earlier member's number as its root.
  void Join(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    if (a == b) return;
    if (b < a) std::swap(a, b);
    parent_[b] = a;
    last_use_[a] = std::max(last_use_[a], last_use_[b]);
    last_read_[a] = std::max(last_read_[a], last_read_[b]);
    defined_[a] = std::min(defined_[a], defined_[b]);
  }

  void JoinViews() {
    for (const ir::OpId op : what_.order) {
      for (size_t i = 0; i < module_.op(op).result_count; ++i) {
        const auto operand = ViewOf(module_, op, i);
        if (!operand) continue;
        const uint32_t from = NumberOf(ViewSource(op, *operand));
        if (from != kNever) Join(from, NumberOf(module_.result(op, i)));
      }
    }
  }

  // The member that a tuple's element is, where the tuple was made here.
  ir::ValueId ViewSource(ir::OpId op, size_t operand) const {
    const ir::ValueId value = module_.operands(op)[operand];
    if (module_.kind(op) != OpKind::kGetTupleElement) return value;
    const ir::OpId maker = module_.defining_op(value);
    const auto index = ir::IntegerAttribute(module_, op, "index");
    if (!maker.valid() || module_.kind(maker) != OpKind::kTuple || !index) return value;
    const auto members = module_.operands(maker);
    return *index >= 0 && static_cast<size_t>(*index) < members.size() ? members[static_cast<size_t>(*index)] : value;
  }

  // Buffers of the caller that it wants to see unchanged.
  bool ReadOnly(uint32_t root) const {
    if (root >= arguments_) {
      const ir::OpId maker = module_.defining_op(values_[root]);
      return maker.valid() && module_.kind(maker) == OpKind::kConstant;
    }
    if (what_.is_main) return what_.donation == nullptr || !what_.donation->donated[root];
    return !what_.loop.valid();
  }

  // Where results of the block have to end up.
  void FindHomes() {
    home_.assign(values_.size(), kNever);
    for (size_t i = 0; i < returned_.size(); ++i) {
      if (const uint32_t value = Find(returned_[i]); value != kNever && value >= arguments_) home_[value] = HomeOf(i);
    }
  }

  // Whether the op may write its result over the argument that is its home.
  bool MayGoHome(ir::OpId op, size_t i, uint32_t home, uint32_t at) {
    if (last_use_[Root(home)] > at || (what_.copies_early && ReadElsewhere(home, op, at))) return false;
    if (last_use_[Root(home)] < at) return true;
    const auto operands = module_.operands(op);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (Find(operands[k]) == Root(home) && UpdatedOperand(module_, op, i) != k &&
          !MayTakeOver(module_, op, i, k, what_.on_cpu))
        return false;
    }
    return true;
  }

  // Whether an op that `op` does not wait for reads what lies in `home`: XLA decides on copies before it has an order.
  bool ReadElsewhere(uint32_t home, ir::OpId op, uint32_t at) {
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
        if (Find(operand) == Root(home) && !IsViewOnly(what_.order[i])) return true;
      }
    }
    return false;
  }

  bool IsViewOnly(ir::OpId op) const { return module_.op(op).result_count == 1 && ViewOf(module_, op, 0).has_value(); }

  bool Dies(uint32_t v, uint32_t at) {
    const uint32_t root = Root(v);
    return last_use_[root] == at && !ReadOnly(root);
  }

  void JoinDying() {
    for (uint32_t at = 0; at < end_; ++at) {
      const ir::OpId op = what_.order[at];
      if (module_.kind(op) == OpKind::kWhile) {
        JoinCarried(op, at);
        continue;
      }
      for (size_t i = 0; i < module_.op(op).result_count; ++i) JoinOneDying(op, i, at);
    }
  }

  void JoinOneDying(ir::OpId op, size_t i, uint32_t at) {
    const uint32_t result = NumberOf(module_.result(op, i));
    if (Root(result) != result) return;  // a view
    const uint32_t home = home_[result];
    const auto operands = module_.operands(op);
    const auto updated = UpdatedOperand(module_, op, i);
    const uint32_t old = updated && *updated < operands.size() ? Find(operands[*updated]) : kNever;
    if (old != kNever && (home == kNever || old != Root(home)) && Dies(old, at)) {
      Join(old, result);
    } else if (home != kNever && MayGoHome(op, i, home, at)) {
      GoHome(home, result);
    }
    if (!updated) TakeOver(op, i, at);
  }

  // Marks the operands of the result's size that end here and may be written over; of two temporaries the first is.
  void TakeOver(ir::OpId op, size_t i, uint32_t at) {
    const uint32_t result = NumberOf(module_.result(op, i));
    const auto operands = module_.operands(op);
    bool taken = false;
    for (size_t k = 0; k < operands.size(); ++k) {
      const uint32_t from = Find(operands[k]);
      if (from == kNever || !Dies(from, at) || taker_[from] != kNever) continue;
      if (what_.sizes.Of(values_[from]) != what_.sizes.Of(module_.result(op, i))) continue;
      if (!MayTakeOver(module_, op, i, k, what_.on_cpu)) continue;
      taker_[from] = result;
      taken_directly_[from] = !taken && values_[from] == operands[k] && IsOnlyResult(operands[k]);
      taken = taken || taken_directly_[from];
    }
  }

  // XLA's heap sees a buffer's next user only where that names the op that made it, not an element of its tuple.
  bool IsOnlyResult(ir::ValueId value) const {
    const ir::OpId maker = module_.defining_op(value);
    if (!maker.valid()) return what_.is_main;
    if (!what_.scheduled && !what_.on_cpu && ReturnsWorkspace(module_, maker)) return false;
    return module_.op(maker).result_count == 1;
  }

  // The result lies in the argument's buffer, which is free from the argument's last use until then.
  void GoHome(uint32_t home, uint32_t result) {
    Lend(home, {.from = defined_[result], .until = end_, .owner = result});
    Join(home, result);
  }

  void Lend(uint32_t home, const Span& taken) {
    const uint32_t until = last_use_[Root(home)];
    if (until < taken.from) lent_.push_back({what_.sizes.Of(values_[home]), {{.from = 0, .until = until}, taken}});
  }

  // What a loop carries stays in one buffer; an operand that is needed later and changed by the loop is copied first.
  void JoinCarried(ir::OpId op, uint32_t at) {
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

  // Results of `main` that fit into donated buffers, next values of a loop that fit into the present ones. The others
  // are copied there once nobody needs what is there.
  void JoinResults() {
    for (size_t i = 0; i < returned_.size(); ++i) {
      const uint32_t home = HomeOf(i);
      const uint32_t value = Find(returned_[i]);
      if (home == kNever || value == kNever || value < arguments_) continue;
      if (last_use_[Root(home)] < defined_[value]) {
        GoHome(home, value);
      } else if (std::count(returned_.begin(), returned_.end(), returned_[i]) == 1) {
        last_use_[value] = std::max({last_read_[value], defined_[value], last_use_[Root(home)]});
        Lend(home, {.from = last_use_[value] + 1, .until = end_});
      }
    }
  }

  uint32_t HomeOf(size_t result) const {
    if (what_.is_main && what_.donation != nullptr && result < what_.donation->argument_of_result.size()) {
      return what_.donation->argument_of_result[result];
    }
    return what_.loop.valid() && result < arguments_ ? static_cast<uint32_t>(result) : kNever;
  }

  // Arguments lie with the caller; so do the results of regions that are no loop bodies.
  bool CountsOutside(uint32_t root) const { return root < arguments_ || returned_outside_[root]; }

  Liveness Collect() {
    returned_outside_.assign(values_.size(), false);
    if (!what_.is_main && !what_.loop.valid()) {
      for (const ir::ValueId value : returned_) {
        if (const uint32_t root = Find(value); root != kNever) returned_outside_[root] = true;
      }
    }
    std::vector<int64_t> sizes(values_.size(), 0);
    for (uint32_t v = 0; v < values_.size(); ++v) {
      int64_t& size = sizes[Root(v)];
      size = std::max(size, IsTuple(v) ? 0 : what_.sizes.Of(values_[v]));
    }
    std::vector<bool> own_result(values_.size(), false);
    for (size_t i = 0; i < returned_.size(); ++i) {
      if (const uint32_t root = Find(returned_[i]); root != kNever) own_result[root] = HomeOf(i) == kNever;
    }
    const std::vector<uint32_t> rank = RankMakers();
    Liveness out;
    for (uint32_t v = 0; v < values_.size(); ++v) {
      if (parent_[v] != v || sizes[v] == 0) continue;
      if (returned_outside_[v]) lent_.push_back({sizes[v], {{.from = defined_[v], .until = end_, .owner = v}}});
      if (CountsOutside(v)) continue;
      out.intervals.push_back({.value = values_[v],
                               .bytes = sizes[v],
                               .from = defined_[v],
                               .until = last_use_[v],
                               .result = own_result[v],
                               .owner = v,
                               .rank = rank[v],
                               .taker = taker_[v] == kNever ? kNever : Root(taker_[v]),
                               .taken_directly = taken_directly_[v]});
    }
    ShareResults(out.intervals, lent_);
    EndTakenOver(out.intervals);
    std::stable_sort(out.intervals.begin(), out.intervals.end(), [](const Interval& a, const Interval& b) {
      return std::tie(a.from, a.result) < std::tie(b.from, b.result);
    });
    std::vector<int64_t> change(end_ + 2, 0);
    for (const Interval& interval : out.intervals) {
      change[interval.from] = SaturatingAdd(change[interval.from], interval.bytes);
      int64_t& behind = change[interval.until + 1];
      behind = internal::SaturatingSubtract(behind, interval.bytes);
    }
    int64_t held = 0;
    for (uint32_t at = 0; at <= end_; ++at) {
      held = SaturatingAdd(held, change[at]);
      out.bytes.push_back(SaturatingAdd(held, at < end_ ? InsideOf(what_.order[at]) : 0));
      if (out.bytes[at] > out.bytes[out.peak]) out.peak = at;
    }
    return out;
  }

  // XLA's order among buffers of one size: makers before users, from the results backwards, first operands first.
  std::vector<uint32_t> RankMakers() {
    std::vector<uint32_t> rank(values_.size(), kNever);
    uint32_t next = 0;
    std::vector<std::pair<ir::ValueId, size_t>> stack;
    const auto visit = [&](ir::ValueId root) {
      stack.assign(1, {root, 0});
      while (!stack.empty()) {
        auto& [value, operand] = stack.back();
        const uint32_t v = NumberOf(value);
        const ir::OpId maker = module_.defining_op(value);
        const auto operands = maker.valid() ? module_.operands(maker) : std::span<const ir::ValueId>();
        if (v == kNever || rank[v] != kNever || operand == operands.size()) {
          if (v != kNever && rank[v] == kNever) rank[v] = next++;
          stack.pop_back();
        } else {
          stack.emplace_back(operands[operand++], 0);
        }
      }
    };
    for (const ir::ValueId value : returned_) visit(value);
    for (const ir::ValueId value : values_) visit(value);
    return rank;
  }

  // Tuples and asynchronous bundles only name their members.
  bool IsTuple(uint32_t v) const {
    const ir::TypeKind kind = module_.type(values_[v]).kind;
    if (kind == ir::TypeKind::kAsyncBundle) return true;
    const ir::OpId maker = module_.defining_op(values_[v]);
    return kind == ir::TypeKind::kTuple && maker.valid() && module_.kind(maker) == OpKind::kTuple;
  }

  int64_t InsideOf(ir::OpId op) const {
    const auto found = inside_.find(op.value);
    return found == inside_.end() ? 0 : found->second.bytes;
  }

  static int64_t SaturatingAdd(int64_t a, int64_t b) { return internal::SaturatingAdd(a, b); }

  const ir::Module& module_;
  const BlockToAnalyse& what_;
  const InsideByOp& inside_;
  uint32_t end_;                                   // position of the terminator
  std::unordered_map<uint32_t, uint32_t> number_;  // by value; of main, which has most of them, dense_
  std::vector<uint32_t> dense_;
  std::vector<ir::ValueId> values_;  // arguments first, then results in order
  uint32_t arguments_ = 0;
  std::vector<uint32_t> defined_;
  std::vector<uint32_t> made_at_;  // defined_ as numbered
  std::vector<uint32_t> last_use_;
  std::vector<uint32_t> parent_;
  std::vector<ir::ValueId> todo_;  // of Use
  std::vector<ir::ValueId> returned_;
  std::vector<bool> returned_outside_;
  std::vector<uint32_t> last_read_;   // last_use_ without the terminator's
  std::vector<uint32_t> taker_;       // by root: whose buffer it becomes when it ends
  std::vector<bool> taken_directly_;  // by root: the taker's operand is the op that made it
  std::vector<Home> lent_;            // arguments' buffers before their next values are made
  std::vector<uint32_t> home_;        // argument that a returned value has to lie in, by number
};

}  // namespace

BufferSizes::BufferSizes(const ir::Module& module, int64_t alignment) : module_(module), alignment_(alignment) {
  for (size_t i = 0; i < module.types().size(); ++i) {
    of_type_.push_back(Rounded(ir::ByteSize(module.types(), ir::TypeId(i))));
  }
}

int64_t BufferSizes::Rounded(int64_t bytes) const {
  const int64_t most = std::numeric_limits<int64_t>::max() - alignment_;
  return bytes > most ? bytes : (bytes + alignment_ - 1) / alignment_ * alignment_;
}

Liveness Analyse(const ir::Module& module, const BlockToAnalyse& what, const InsideByOp& inside) {
  return Analysis(module, what, inside).Run();
}

std::vector<Interval> HeldAt(const Liveness& liveness, uint32_t position) {
  std::vector<Interval> held;
  for (const Interval& interval : liveness.intervals) {
    if (interval.from <= position && position <= interval.until) held.push_back(interval);
  }
  return held;
}

}  // namespace hespas::assemble::memory
