#include "optimise/schedule/latency_hiding.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "optimise/schedule/held_memory.h"
#include "optimise/schedule/ready_list.h"
#include "optimise/schedule/schedule_clock.h"

namespace hespas::optimise {
namespace {

class Hiding {
 public:
  explicit Hiding(const HidingInput& input)
      : in_(input),
        dag_(input.dag),
        work_(input),
        clock_(dag_.size()),
        memory_(dag_, input.memory_limit),
        placed_(dag_.size(), false) {
    for (uint32_t value = 0; value < dag_.value_consumers.size(); ++value) {
      consumers_left_.push_back(static_cast<uint32_t>(dag_.value_consumers[value].size()));
    }
    for (uint32_t op = 0; op < dag_.size(); ++op) left_.push_back(static_cast<uint32_t>(dag_.users[op].size()));
  }

  Hidden Run() {
    for (const uint32_t op : in_.order) {
      if (left_[op] == 0) Offer(op);
    }
    while (reversed_.size() < dag_.size()) Place(Choose());
    std::reverse(reversed_.begin(), reversed_.end());
    return {
        .order = std::move(reversed_), .most_within = memory_.most_within(), .least_beyond = memory_.least_beyond()};
  }

 private:
  // An op all of whose consumers have their places.
  void Offer(uint32_t op) {
    switch (in_.roles[op]) {
      case Role::kNothing:
        nothing_.push_back(op);
        return;
      case Role::kDone:
        dones_.emplace(-work_.depth(op), -static_cast<int64_t>(work_.position(op)), op);
        return;
      case Role::kStart:
        starts_.push_back(op);
        break;
      case Role::kWork:
        work_.Offer(op, clock_);
    }
    clock_.Expect(op);
  }

  uint32_t Choose() {
    if (!nothing_.empty()) return Take(nothing_);
    work_.Wake(clock_.now());
    if (memory_.Exceeded()) return SavingMemory();
    if (under_way_ == 0 && !dones_.empty()) return TakeDone();
    const uint32_t work = work_.Best(clock_);
    if (work == ReadyList::kNoOp) return !starts_.empty() ? TakeStart() : TakeDone();
    if (!starts_.empty() && StartIsBetter(starts_.back(), work)) return TakeStart();
    return TakeWork(work);
  }

  // The last in the order of least memory; a start at once, as nothing is gained by holding results longer.
  uint32_t SavingMemory() {
    if (!starts_.empty()) return TakeStart();
    const uint32_t work = work_.LastInOrder();
    if (work == ReadyList::kNoOp) return TakeDone();
    const bool done = !dones_.empty() && under_way_ == 0;
    if (done && work_.position(std::get<2>(*dones_.begin())) > work_.position(work)) return TakeDone();
    return TakeWork(work);
  }

  // In XLA's order of questions: which stalls less, whether another collective waits for the links, which stands on the
  // longer chain of collectives.
  bool StartIsBetter(uint32_t start, uint32_t work) const {
    const int64_t stall = clock_.StallOf(start);
    const int64_t stall_of_work = clock_.StallOf(work);
    if (stall != stall_of_work) return stall < stall_of_work;
    if (!dones_.empty()) return true;
    if (work_.depth(start) == 0) return false;
    if (work_.depth(start) != work_.depth(work)) return work_.depth(start) > work_.depth(work);
    if (clock_.WasteOf(in_.costs[work]) < clock_.WasteOf(in_.costs[start])) return false;
    return work_.RankOf(start) < work_.RankOf(work);
  }

  static uint32_t Take(std::vector<uint32_t>& from) {
    const uint32_t op = from.back();
    from.pop_back();
    return op;
  }
  uint32_t TakeDone() {
    const uint32_t op = std::get<2>(*dones_.begin());
    dones_.erase(dones_.begin());
    ++under_way_;
    return op;
  }
  uint32_t TakeStart() {
    --under_way_;
    return Take(starts_);
  }
  uint32_t TakeWork(uint32_t op) {
    work_.Take(op);
    return op;
  }

  void Place(uint32_t op) {
    reversed_.push_back(op);
    placed_[op] = true;
    clock_.Run(op, in_.costs[op]);
    memory_.Place(op);
    for (const uint32_t value : dag_.values[op]) {
      if (--consumers_left_[value] == 1) EnableLastConsumer(value);
    }
    for (const uint32_t operand : dag_.operands[op]) {
      if (--left_[operand] != 0) continue;
      int64_t ready = clock_.now() + (in_.in_tuple[operand] ? in_.least : 0);
      for (const uint32_t user : dag_.users[operand]) ready = std::max(ready, clock_.ReadyAt(user) + LatencyOf(user));
      clock_.SetReady(operand, ready);
      Offer(operand);
    }
  }

  int64_t LatencyOf(uint32_t user) const {
    return in_.roles[user] == Role::kDone ? in_.CollectiveLatency(user) : in_.least;
  }

  void EnableLastConsumer(uint32_t value) {
    for (const uint32_t user : dag_.value_consumers[value]) {
      if (!placed_[user]) return work_.Enable(user);
    }
  }

  const HidingInput& in_;
  const Dag& dag_;
  std::vector<uint32_t> left_;            // consumers without a place, by op
  std::vector<uint32_t> consumers_left_;  // by value

  std::vector<uint32_t> nothing_;
  std::set<std::tuple<int64_t, int64_t, uint32_t>> dones_;
  std::vector<uint32_t> starts_;  // one at most, unless the program divided some itself
  int under_way_ = 0;
  ReadyList work_;
  ScheduleClock clock_;
  HeldMemory memory_;
  std::vector<bool> placed_;
  std::vector<uint32_t> reversed_;
};

}  // namespace

// XLA's ApproximateLatencyEstimator.
Role RoleOf(ir::OpKind kind) {
  if (kind == ir::OpKind::kAsyncStart) return Role::kStart;
  if (kind == ir::OpKind::kAsyncDone) return Role::kDone;
  const ir::OpSort sort = ir::Traits(kind).sort;
  const bool view = kind == ir::OpKind::kReshape || kind == ir::OpKind::kBitcast;
  return view || sort == ir::OpSort::kFree || sort == ir::OpSort::kConstant ? Role::kNothing : Role::kWork;
}

int64_t TicksOf(ir::OpKind kind, const std::string_view* fusion_kind) {
  constexpr int64_t kHigh = 5000;
  constexpr int64_t kMedium = 1000;
  if (RoleOf(kind) == Role::kNothing) return 0;
  if (kind == ir::OpKind::kConvolution) return kHigh;
  const bool loop = fusion_kind != nullptr && fusion_kind->find("kLoop") != std::string_view::npos;
  return kind == ir::OpKind::kCustomCall || (kind == ir::OpKind::kFusion && loop) ? kMedium : 1;
}

Hidden HideLatency(const HidingInput& input) { return Hiding(input).Run(); }

}  // namespace hespas::optimise
