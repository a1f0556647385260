// Ops that wait for their place in a schedule, of those whose consumers all have one.
//
// - Some could run now, others only later. Of the former the best comes first: on the longest chain of collectives,
//   with the cost that bridges best what is to be bridged, and by rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "optimise/schedule/latency_hiding.h"
#include "optimise/schedule/schedule_clock.h"

namespace hespas::optimise {

// Of ops that could run now the best comes first in its set.
struct ReadyRank {
  bool unlocks;      // reads what a collective brings
  uint32_t enables;  // values that nobody else has still to read
  uint32_t position;
  uint32_t op;
  bool operator<(const ReadyRank& other) const;
};

class ReadyList {
 public:
  static constexpr uint32_t kNoOp = 0xFFFFFFFFu;

  explicit ReadyList(const HidingInput& input);

  void Offer(uint32_t op, const ScheduleClock& clock);
  void Take(uint32_t op);
  // Those whose time has come can run from now on.
  void Wake(int64_t now);
  // What runs best now, or else first; kNoOp where nothing waits.
  uint32_t Best(const ScheduleClock& clock);
  // The last in the order of least memory; kNoOp where nothing waits.
  uint32_t LastInOrder() const { return by_position_.empty() ? kNoOp : by_position_.rbegin()->second; }

  // It is the last to read one more value.
  void Enable(uint32_t op);
  ReadyRank RankOf(uint32_t op) const { return {unlocks_[op], enables_[op], position_[op], op}; }
  uint32_t position(uint32_t op) const { return position_[op]; }
  // The time of all collectives on the longest chain up to an op.
  int64_t depth(uint32_t op) const { return depth_[op]; }

 private:
  enum class Work : uint8_t { kAway, kWaiting, kReady };
  using Waiting = std::pair<int64_t, uint32_t>;           // when it may run, op
  using ByCost = std::map<int64_t, std::set<ReadyRank>>;  // of ops that could run at once

  void FindDepths();
  void Add(uint32_t op) { ready_[depth_[op]][in_.costs[op]].insert(RankOf(op)); }
  void Drop(uint32_t op);

  const HidingInput& in_;
  std::vector<uint32_t> position_;
  std::vector<int64_t> depth_;
  std::vector<bool> unlocks_;
  std::vector<uint32_t> enables_;
  std::vector<Work> work_;
  std::map<int64_t, ByCost> ready_;  // by depth
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::set<std::pair<uint32_t, uint32_t>> by_position_;
};

}  // namespace hespas::optimise
