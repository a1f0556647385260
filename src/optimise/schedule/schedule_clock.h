// The clock of a schedule that is made backwards, in ticks: when each op may run, and when the next one may.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <queue>
#include <vector>

namespace hespas::optimise {

class ScheduleClock {
 public:
  explicit ScheduleClock(size_t ops) : ready_at_(ops, 0) {}

  int64_t now() const { return now_; }
  // Of an op with a place: when it runs.
  int64_t ReadyAt(uint32_t op) const { return ready_at_[op]; }
  void SetReady(uint32_t op, int64_t at) { ready_at_[op] = at; }
  // It waits for its place.
  void Expect(uint32_t op) {
    if (ready_at_[op] > now_) next_ready_.push(ready_at_[op]);
  }
  void Run(uint32_t op, int64_t cost) {
    ready_at_[op] = std::max(now_, ready_at_[op]);
    now_ = ready_at_[op] + cost;
    while (!next_ready_.empty() && next_ready_.top() < now_) next_ready_.pop();
  }
  // How long an op would stall everything.
  int64_t StallOf(uint32_t op) const { return std::max<int64_t>(ready_at_[op] - now_, 0); }
  // How far from what is to be bridged until something becomes ready an op of that cost lies.
  int64_t WasteOf(int64_t cost) const { return next_ready_.empty() ? 0 : std::abs(next_ready_.top() - now_ - cost); }

 private:
  int64_t now_ = 0;
  std::vector<int64_t> ready_at_;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> next_ready_;
};

}  // namespace hespas::optimise
