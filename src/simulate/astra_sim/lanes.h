// Matching without look-ups for phases of `ring` and `direct`: their messages come from known places of a logical ring.
//
// - A lane serves one phase of one stream; channel k holds messages from k + 1 steps back. Keys that no open lane
//   knows pair up in the Matcher, which also keeps what comes before a lane opens or after it has closed.
// - Two streams of one NPU may share a tag (group numbers from 500 on do); neither then has a lane.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/astra_sim/topology.h"
#include "simulate/engine/matcher.h"
#include "simulate/engine/pool.h"

namespace hespas::simulate {

class Lanes {
 public:
  struct Phase {
    uint32_t stream = 0;
    uint32_t rank = 0;
    uint32_t tag = 0;
    uint32_t channels = 0;  // 0: no lane, its receives are posted in the Matcher
    uint64_t size = 0;
    const LogicalRing& ring;
    bool clockwise = true;
  };
  enum class Match : uint8_t { kNoLane, kEarly, kPaired };

  Lanes(Matcher& matcher, uint32_t ranks, uint32_t slots)
      : matcher_(matcher), slots_(slots), lanes_(size_t{ranks} * slots), without_lane_(ranks, 0) {}

  void Begin(const Phase& phase);
  void End(uint32_t rank, uint32_t tag, uint32_t stream);

  // A message sent `steps` on in its sender's ring has come; kPaired: `stream` waited for it.
  Match Arrive(const MatchKey& key, uint32_t steps, uint32_t& stream) {
    Lane& lane = At(key.destination, key.tag);
    if (lane.tag != key.tag || lane.size != key.size) return Match::kNoLane;
    stream = lane.stream;
    if (lane.source == key.source) return Add(lane, lane.balance);
    int16_t* balance = ChannelOf(lane, key.source, steps);
    return balance == nullptr ? Match::kNoLane : Add(lane, *balance);
  }

  // The stream posts a receive from `steps` back; kPaired: the message is there.
  Match Receive(uint32_t rank, uint32_t tag, uint32_t stream, uint32_t steps) {
    Lane& lane = At(rank, tag);
    if (lane.tag != tag || lane.stream != stream) return Match::kNoLane;
    return steps == 1 ? Take(lane, lane.balance) : Take(lane, lane.more[steps - 2]);
  }

  // Calls see(key, callback) for each receive that still waits.
  template <class See>
  void EachWaiting(See see) const {
    for (const Lane& lane : lanes_) {
      if (lane.tag == 0) continue;
      for (uint32_t k = 0; k <= lane.more.size(); ++k) {
        if (BalanceOf(lane, k) < 0) see(KeyOf(lane, k), Callback{CallbackKind::kStream, lane.stream, 0});
      }
    }
  }

 private:
  struct Lane {
    uint32_t tag = 0;  // 0: closed
    uint32_t stream = 0;
    uint64_t size = 0;
    uint32_t source = 0;  // of the first channel
    int32_t balance = 0;  // of the first channel: messages that came early, or (negative) receives that wait
    uint32_t early = 0;   // messages of all channels
    uint32_t rank = 0;
    std::vector<int16_t> more;  // balances of the other channels
    LogicalRing ring;
    bool clockwise = true;
  };

  Lane& At(uint32_t rank, uint32_t tag) { return lanes_[size_t{rank} * slots_ + (tag & (slots_ - 1))]; }
  static int32_t BalanceOf(const Lane& lane, uint32_t k) { return k == 0 ? lane.balance : lane.more[k - 1]; }
  static uint32_t SourceOf(const Lane& lane, uint32_t k) {
    return lane.ring.Neighbour(lane.ring.me, k + 1, !lane.clockwise);
  }
  static MatchKey KeyOf(const Lane& lane, uint32_t k) {
    return {.size = lane.size, .tag = lane.tag, .source = SourceOf(lane, k), .destination = lane.rank};
  }
  // Nothing if no channel of the lane is for `source`. Senders in another phase or direction count other steps.
  static int16_t* ChannelOf(Lane& lane, uint32_t source, uint32_t steps) {
    if (steps - 2 < lane.more.size() && SourceOf(lane, steps - 1) == source) return &lane.more[steps - 2];
    for (uint32_t k = 1; k <= lane.more.size(); ++k) {
      if (SourceOf(lane, k) == source) return &lane.more[k - 1];
    }
    return nullptr;
  }
  template <class Balance>
  static Match Add(Lane& lane, Balance& balance) {
    if (balance++ < 0) return Match::kPaired;
    ++lane.early;
    return Match::kEarly;
  }
  template <class Balance>
  static Match Take(Lane& lane, Balance& balance) {
    if (--balance < 0) return Match::kEarly;
    --lane.early;
    return Match::kPaired;
  }
  void Spill(Lane& lane);

  Matcher& matcher_;
  uint32_t slots_;  // of each rank; a power of two
  std::vector<Lane> lanes_;
  std::vector<uint32_t> without_lane_;  // phases of each rank that have none
};

}  // namespace hespas::simulate
