// Matching without look-ups for phases of `ring` and `direct`: their messages come from known places of a logical ring.
//
// - A phase of a stream opens its channels; channel k holds messages from k + 1 steps back. Keys without an open
//   channel pair up in the Matcher, which also keeps messages that arrive before a channel opens or after it has
//   closed.
// - Two streams of one NPU may share a tag (group numbers from 500 on do); neither then has channels.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/astra_sim/topology.h"
#include "simulate/engine/matcher.h"
#include "simulate/engine/queue/pool.h"

namespace hespas::simulate {

class MessageChannels {
 public:
  struct Phase {
    uint32_t stream = 0;
    uint32_t rank = 0;
    uint32_t tag = 0;
    uint32_t channels = 0;  // 0: none, its receives are posted in the Matcher
    uint64_t size = 0;
    const LogicalRing& ring;
    bool clockwise = true;
  };
  enum class Match : uint8_t { kNotOpen, kEarly, kPaired };

  MessageChannels(Matcher& matcher, uint32_t ranks, uint32_t slots)
      : matcher_(matcher), slots_(slots), channels_(size_t{ranks} * slots), without_channels_(ranks, 0) {}

  void Begin(const Phase& phase);
  void End(uint32_t rank, uint32_t tag, uint32_t stream);

  // A message sent `steps` on in its sender's ring has come; kPaired: `stream` waited for it.
  Match Arrive(const MatchKey& key, uint32_t steps, uint32_t& stream) {
    PhaseChannels& channels = At(key.destination, key.tag);
    if (channels.tag != key.tag || channels.size != key.size) return Match::kNotOpen;
    stream = channels.stream;
    if (channels.source == key.source) return Add(channels, channels.balance);
    int16_t* balance = ChannelOf(channels, key.source, steps);
    return balance == nullptr ? Match::kNotOpen : Add(channels, *balance);
  }

  // The stream posts a receive from `steps` back; kPaired: the message is there.
  Match Receive(uint32_t rank, uint32_t tag, uint32_t stream, uint32_t steps) {
    PhaseChannels& channels = At(rank, tag);
    if (channels.tag != tag || channels.stream != stream) return Match::kNotOpen;
    return steps == 1 ? Take(channels, channels.balance) : Take(channels, channels.more[steps - 2]);
  }

  // Calls see(key, callback) for each receive that still waits.
  template <class See>
  void EachWaiting(See see) const {
    for (const PhaseChannels& channels : channels_) {
      if (channels.tag == 0) continue;
      for (uint32_t k = 0; k <= channels.more.size(); ++k) {
        if (BalanceOf(channels, k) < 0) see(KeyOf(channels, k), Callback{CallbackKind::kStream, channels.stream, 0});
      }
    }
  }

 private:
  struct PhaseChannels {
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

  PhaseChannels& At(uint32_t rank, uint32_t tag) { return channels_[size_t{rank} * slots_ + (tag & (slots_ - 1))]; }
  static int32_t BalanceOf(const PhaseChannels& channels, uint32_t k) {
    return k == 0 ? channels.balance : channels.more[k - 1];
  }
  static uint32_t SourceOf(const PhaseChannels& channels, uint32_t k) {
    return channels.ring.Neighbour(channels.ring.me, k + 1, !channels.clockwise);
  }
  static MatchKey KeyOf(const PhaseChannels& channels, uint32_t k) {
    return {.size = channels.size, .tag = channels.tag, .source = SourceOf(channels, k), .destination = channels.rank};
  }
  // Nothing if none of the channels is for `source`. Senders in another phase or direction count other steps.
  static int16_t* ChannelOf(PhaseChannels& channels, uint32_t source, uint32_t steps) {
    if (steps - 2 < channels.more.size() && SourceOf(channels, steps - 1) == source) return &channels.more[steps - 2];
    for (uint32_t k = 1; k <= channels.more.size(); ++k) {
      if (SourceOf(channels, k) == source) return &channels.more[k - 1];
    }
    return nullptr;
  }
  template <class Balance>
  static Match Add(PhaseChannels& channels, Balance& balance) {
    if (balance++ < 0) return Match::kPaired;
    ++channels.early;
    return Match::kEarly;
  }
  template <class Balance>
  static Match Take(PhaseChannels& channels, Balance& balance) {
    if (--balance < 0) return Match::kEarly;
    --channels.early;
    return Match::kPaired;
  }
  void Spill(PhaseChannels& channels);

  Matcher& matcher_;
  uint32_t slots_;  // of each rank; a power of two
  std::vector<PhaseChannels> channels_;
  std::vector<uint32_t> without_channels_;  // phases of each rank that have none
};

}  // namespace hespas::simulate
