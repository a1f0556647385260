#include "memory/liveness.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "memory/buffers/buffer_sharing.h"

namespace hespas::memory {
namespace {

class Analysis : private BufferSharing {
 public:
  Analysis(const ir::Module& module, const BlockToAnalyse& what, const InsideByOp& inside)
      : BufferSharing(module, what), inside_(inside) {}

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
      if (const uint32_t root = Find(returned_[i]); root != kNever) own_result[root] = AssignedBufferOf(i) == kNever;
    }
    const std::vector<uint32_t> rank = RankMakers();
    Liveness out;
    for (uint32_t v = 0; v < values_.size(); ++v) {
      if (parent_[v] != v || sizes[v] == 0) continue;
      if (returned_outside_[v]) donated_.push_back({sizes[v], {{.from = defined_[v], .until = end_, .owner = v}}});
      if (CountsOutside(v)) continue;
      out.intervals.push_back({.value = values_[v],
                               .bytes = sizes[v],
                               .from = defined_[v],
                               .until = last_use_[v],
                               .result = own_result[v],
                               .owner = v,
                               .rank = rank[v],
                               .reused_by = reused_by_[v] == kNever ? kNever : Root(reused_by_[v]),
                               .reused_directly = reused_directly_[v]});
    }
    ShareResults(out.intervals, donated_);
    EndReused(out.intervals);
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

 private:
  // Arguments lie with the caller; so do the results of regions that are no loop bodies.
  bool CountsOutside(uint32_t root) const { return root < arguments_ || returned_outside_[root]; }

  // XLA's order among buffers of one size: producers before users, from the results backwards, first operands first.
  std::vector<uint32_t> RankMakers() {
    std::vector<uint32_t> rank(values_.size(), kNever);
    uint32_t next = 0;
    std::vector<std::pair<ir::ValueId, size_t>> stack;
    const auto visit = [&](ir::ValueId root) {
      stack.assign(1, {root, 0});
      while (!stack.empty()) {
        auto& [value, operand] = stack.back();
        const uint32_t v = NumberOf(value);
        const ir::OpId producer = module_.defining_op(value);
        const auto operands = producer.valid() ? module_.operands(producer) : std::span<const ir::ValueId>();
        if (v == kNever || rank[v] != kNever || operand == operands.size()) {
          if (v != kNever && rank[v] == kNever) rank[v] = next++;
          stack.pop_back();
          continue;
        }
        const ir::ValueId before = operands[operand++];
        if (const uint32_t b = NumberOf(before); b != kNever && rank[b] == kNever) stack.emplace_back(before, 0);
      }
    };
    for (const ir::ValueId value : returned_) visit(value);
    for (const ir::ValueId value : values_) visit(value);
    return rank;
  }

  int64_t InsideOf(ir::OpId op) const {
    const auto found = inside_.find(op.value);
    return found == inside_.end() ? 0 : found->second.bytes;
  }

  static int64_t SaturatingAdd(int64_t a, int64_t b) { return internal::SaturatingAdd(a, b); }

  const InsideByOp& inside_;
  std::vector<bool> returned_outside_;
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
  return Analysis(module, what, inside).Collect();
}

std::vector<Interval> HeldAt(const Liveness& liveness, uint32_t position) {
  std::vector<Interval> held;
  for (const Interval& interval : liveness.intervals) {
    if (interval.from <= position && position <= interval.until) held.push_back(interval);
  }
  return held;
}

}  // namespace hespas::memory
