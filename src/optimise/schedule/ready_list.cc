#include "optimise/schedule/ready_list.h"

#include <algorithm>
#include <tuple>

namespace hespas::optimise {

bool ReadyRank::operator<(const ReadyRank& other) const {
  return std::tie(other.unlocks, other.enables, other.position) < std::tie(unlocks, enables, position);
}

ReadyList::ReadyList(const HidingInput& input)
    : in_(input),
      position_(input.dag.size()),
      depth_(input.dag.size(), 0),
      unlocks_(input.dag.size(), false),
      enables_(input.dag.size(), 0),
      work_(input.dag.size(), Work::kAway) {
  for (uint32_t i = 0; i < in_.order.size(); ++i) position_[in_.order[i]] = i;
  FindDepths();
  for (uint32_t op = 0; op < in_.dag.size(); ++op) {
    for (const uint32_t value : in_.dag.values[op]) enables_[op] += in_.dag.value_consumers[value].size() == 1;
  }
}

void ReadyList::FindDepths() {
  for (const uint32_t op : in_.order) {
    for (const uint32_t operand : in_.dag.operands[op]) {
      depth_[op] = std::max(depth_[op], depth_[operand]);
      if (in_.roles[operand] == Role::kDone) unlocks_[op] = true;
    }
    if (in_.roles[op] == Role::kDone) depth_[op] += in_.CollectiveLatency(op);
  }
}

void ReadyList::Drop(uint32_t op) {
  const auto depth = ready_.find(depth_[op]);
  const auto cost = depth->second.find(in_.costs[op]);
  cost->second.erase(RankOf(op));
  if (cost->second.empty()) depth->second.erase(cost);
  if (depth->second.empty()) ready_.erase(depth);
}

void ReadyList::Offer(uint32_t op, const ScheduleClock& clock) {
  by_position_.emplace(position_[op], op);
  const int64_t at = clock.ReadyAt(op);
  work_[op] = at > clock.now() ? Work::kWaiting : Work::kReady;
  if (work_[op] == Work::kReady) {
    Add(op);
  } else {
    waiting_.emplace(at, op);
  }
}

void ReadyList::Take(uint32_t op) {
  if (work_[op] == Work::kReady) Drop(op);
  work_[op] = Work::kAway;
  by_position_.erase({position_[op], op});
}

void ReadyList::Wake(int64_t now) {
  while (!waiting_.empty() && waiting_.top().first <= now) {
    const uint32_t op = waiting_.top().second;
    waiting_.pop();
    if (work_[op] != Work::kWaiting) continue;
    work_[op] = Work::kReady;
    Add(op);
  }
}

uint32_t ReadyList::Best(const ScheduleClock& clock) {
  if (ready_.empty()) {
    while (!waiting_.empty() && work_[waiting_.top().second] != Work::kWaiting) waiting_.pop();
    return waiting_.empty() ? kNoOp : waiting_.top().second;
  }
  const ByCost& deepest = ready_.rbegin()->second;
  const auto better = [&](const auto& a, const auto& b) {
    const int64_t of_a = clock.WasteOf(a.first);
    const int64_t of_b = clock.WasteOf(b.first);
    return of_a != of_b ? of_a < of_b : *a.second.begin() < *b.second.begin();
  };
  return std::min_element(deepest.begin(), deepest.end(), better)->second.begin()->op;
}

void ReadyList::Enable(uint32_t op) {
  const bool ready = work_[op] == Work::kReady;
  if (ready) Drop(op);
  ++enables_[op];
  if (ready) Add(op);
}

}  // namespace hespas::optimise
