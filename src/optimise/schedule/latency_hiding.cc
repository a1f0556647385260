#include "optimise/schedule/latency_hiding.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace hespas::optimise {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFFu;

// Of ops that could run now the best comes first in its set.
struct Rank {
  bool unlocks;      // reads what a collective brings
  uint32_t enables;  // values that nobody else has still to read
  uint32_t position;
  uint32_t op;
  bool operator<(const Rank& other) const {
    return std::tie(other.unlocks, other.enables, other.position) < std::tie(unlocks, enables, position);
  }
};

class Hiding {
 public:
  explicit Hiding(const HidingInput& input)
      : in_(input), dag_(input.dag), left_(dag_.size()), ready_at_(dag_.size(), 0), enables_(dag_.size(), 0) {
    FindPositions();
    FindDepths();
    held_.assign(dag_.buffer_bytes.size(), false);
    for (uint32_t value = 0; value < dag_.value_consumers.size(); ++value) {
      consumers_left_.push_back(static_cast<uint32_t>(dag_.value_consumers[value].size()));
    }
    for (uint32_t op = 0; op < dag_.size(); ++op) {
      left_[op] = static_cast<uint32_t>(dag_.users[op].size());
      for (const uint32_t value : dag_.values[op]) enables_[op] += dag_.value_consumers[value].size() == 1;
    }
  }

  Hidden Run() {
    for (const uint32_t op : in_.order) {
      if (left_[op] == 0) Offer(op);
    }
    while (reversed_.size() < dag_.size()) Place(Choose());
    std::reverse(reversed_.begin(), reversed_.end());
    return {.order = std::move(reversed_), .most_within = most_within_, .least_beyond = least_beyond_};
  }

 private:
  enum class Work : uint8_t { kAway, kWaiting, kReady };
  using Waiting = std::pair<int64_t, uint32_t>;      // when it may run, op
  using ByCost = std::map<int64_t, std::set<Rank>>;  // of ops that could run at once

  void FindPositions() {
    position_.resize(dag_.size());
    for (uint32_t i = 0; i < in_.order.size(); ++i) position_[in_.order[i]] = i;
  }

  // The time of all collectives on the longest chain up to an op.
  void FindDepths() {
    depth_.assign(dag_.size(), 0);
    unlocks_.assign(dag_.size(), false);
    for (const uint32_t op : in_.order) {
      for (const uint32_t operand : dag_.operands[op]) {
        depth_[op] = std::max(depth_[op], depth_[operand]);
        if (in_.roles[operand] == Role::kDone) unlocks_[op] = true;
      }
      if (in_.roles[op] == Role::kDone) depth_[op] += CollectiveLatency(op);
    }
  }

  Rank RankOf(uint32_t op) const { return {unlocks_[op], enables_[op], position_[op], op}; }
  void AddReady(uint32_t op) { ready_[depth_[op]][in_.costs[op]].insert(RankOf(op)); }
  void DropReady(uint32_t op) {
    const auto depth = ready_.find(depth_[op]);
    const auto cost = depth->second.find(in_.costs[op]);
    cost->second.erase(RankOf(op));
    if (cost->second.empty()) depth->second.erase(cost);
    if (depth->second.empty()) ready_.erase(depth);
  }
  bool IsReady(uint32_t op) const { return work_[op] == Work::kReady; }

  // An op all of whose consumers have their places.
  void Offer(uint32_t op) {
    switch (in_.roles[op]) {
      case Role::kNothing:
        nothing_.push_back(op);
        return;
      case Role::kDone:
        dones_.emplace(-depth_[op], -static_cast<int64_t>(position_[op]), op);
        return;
      case Role::kStart:
        starts_.push_back(op);
        break;
      case Role::kWork:
        by_position_.emplace(position_[op], op);
        work_[op] = ready_at_[op] > now_ ? Work::kWaiting : Work::kReady;
        if (IsReady(op)) {
          AddReady(op);
        } else {
          waiting_.emplace(ready_at_[op], op);
        }
    }
    if (ready_at_[op] > now_) next_ready_.push(ready_at_[op]);
  }

  uint32_t Choose() {
    if (!nothing_.empty()) return Take(nothing_);
    while (!waiting_.empty() && waiting_.top().first <= now_) {
      const uint32_t op = waiting_.top().second;
      waiting_.pop();
      if (work_[op] != Work::kWaiting) continue;
      work_[op] = Work::kReady;
      AddReady(op);
    }
    if (held_bytes_ > in_.memory_limit) {
      least_beyond_ = std::min(least_beyond_, held_bytes_);
      return SavingMemory();
    }
    most_within_ = std::max(most_within_, held_bytes_);
    if (under_way_ == 0 && !dones_.empty()) return TakeDone();
    const uint32_t work = BestWork();
    if (work == kNone) return !starts_.empty() ? TakeStart() : TakeDone();
    if (!starts_.empty() && StartIsBetter(starts_.back(), work)) return TakeStart();
    return TakeWork(work);
  }

  // The last in the order of least memory; a start at once, as nothing is gained by holding results longer.
  uint32_t SavingMemory() {
    if (!starts_.empty()) return TakeStart();
    const bool done = !dones_.empty() && under_way_ == 0;
    if (by_position_.empty()) return TakeDone();
    const auto [position, work] = *by_position_.rbegin();
    if (done && position_[std::get<2>(*dones_.begin())] > position) return TakeDone();
    return TakeWork(work);
  }

  // How far from what is to be bridged until something becomes ready an op of that cost lies.
  int64_t WasteOf(int64_t cost) const { return next_ready_.empty() ? 0 : std::abs(next_ready_.top() - now_ - cost); }

  uint32_t BestWork() {
    if (ready_.empty()) {
      while (!waiting_.empty() && work_[waiting_.top().second] != Work::kWaiting) waiting_.pop();
      return waiting_.empty() ? kNone : waiting_.top().second;
    }
    const ByCost& deepest = ready_.rbegin()->second;
    const auto better = [&](const auto& a, const auto& b) {
      const int64_t of_a = WasteOf(a.first);
      const int64_t of_b = WasteOf(b.first);
      return of_a != of_b ? of_a < of_b : *a.second.begin() < *b.second.begin();
    };
    return std::min_element(deepest.begin(), deepest.end(), better)->second.begin()->op;
  }

  // In XLA's order of questions: which stalls less, whether another collective waits for the links, which stands on the
  // longer chain of collectives.
  bool StartIsBetter(uint32_t start, uint32_t work) const {
    const int64_t stall = std::max<int64_t>(ready_at_[start] - now_, 0);
    const int64_t stall_of_work = std::max<int64_t>(ready_at_[work] - now_, 0);
    if (stall != stall_of_work) return stall < stall_of_work;
    if (!dones_.empty()) return true;
    if (depth_[start] == 0) return false;
    if (depth_[start] != depth_[work]) return depth_[start] > depth_[work];
    if (WasteOf(in_.costs[work]) < WasteOf(in_.costs[start])) return false;
    return RankOf(start) < RankOf(work);
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
    if (IsReady(op)) DropReady(op);
    work_[op] = Work::kAway;
    by_position_.erase({position_[op], op});
    return op;
  }

  void Place(uint32_t op) {
    reversed_.push_back(op);
    ready_at_[op] = std::max(now_, ready_at_[op]);
    now_ = ready_at_[op] + in_.costs[op];
    while (!next_ready_.empty() && next_ready_.top() < now_) next_ready_.pop();
    HoldAndFree(op);
    for (const uint32_t value : dag_.values[op]) {
      if (--consumers_left_[value] == 1) NoteLastConsumer(value);
    }
    for (const uint32_t operand : dag_.operands[op]) {
      if (--left_[operand] != 0) continue;
      int64_t ready = now_ + (in_.in_tuple[operand] ? in_.least : 0);
      for (const uint32_t user : dag_.users[operand]) ready = std::max(ready, ready_at_[user] + LatencyOf(user));
      ready_at_[operand] = ready;
      Offer(operand);
    }
  }

  int64_t LatencyOf(uint32_t user) const {
    return in_.roles[user] == Role::kDone ? CollectiveLatency(user) : in_.least;
  }
  int64_t CollectiveLatency(uint32_t done) const {
    constexpr int64_t kTicks = 5000;
    return in_.latencies.empty() ? kTicks : in_.latencies[done];
  }

  void NoteLastConsumer(uint32_t value) {
    for (const uint32_t user : dag_.value_consumers[value]) {
      if (placed_[user]) continue;
      const bool ready = IsReady(user);
      if (ready) DropReady(user);
      ++enables_[user];
      if (ready) AddReady(user);
      return;
    }
  }

  void HoldAndFree(uint32_t op) {
    placed_[op] = true;
    for (const uint32_t buffer : dag_.reads[op]) {
      if (held_[buffer]) continue;
      held_[buffer] = true;
      held_bytes_ += dag_.buffer_bytes[buffer];
    }
    for (uint32_t buffer = dag_.first_buffer[op]; buffer < dag_.first_buffer[op + 1]; ++buffer) {
      if (held_[buffer]) held_bytes_ -= dag_.buffer_bytes[buffer];
    }
  }

  const HidingInput& in_;
  const Dag& dag_;
  std::vector<uint32_t> left_;            // consumers without a place, by op
  std::vector<uint32_t> consumers_left_;  // by value
  std::vector<int64_t> ready_at_;         // when an op may run; of a placed one, when it does
  std::vector<uint32_t> enables_;
  std::vector<uint32_t> position_;
  std::vector<int64_t> depth_;
  std::vector<bool> unlocks_;
  std::vector<bool> placed_ = std::vector<bool>(dag_.size(), false);
  std::vector<Work> work_ = std::vector<Work>(dag_.size(), Work::kAway);

  std::vector<uint32_t> nothing_;
  std::set<std::tuple<int64_t, int64_t, uint32_t>> dones_;
  std::vector<uint32_t> starts_;  // one at most, unless the program divided some itself
  int under_way_ = 0;
  std::map<int64_t, ByCost> ready_;  // by depth
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> next_ready_;
  std::set<std::pair<uint32_t, uint32_t>> by_position_;

  int64_t now_ = 0;
  std::vector<bool> held_;  // by buffer
  int64_t held_bytes_ = 0;
  int64_t most_within_ = 0;
  int64_t least_beyond_ = std::numeric_limits<int64_t>::max();
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
