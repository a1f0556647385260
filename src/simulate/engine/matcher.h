// Pairs sends and receives by (tag, source, destination, size): the k-th of one with the k-th of the other
// (spec astra-sim section 3.1). Messages of one key arrive in the order they were sent.
//
// - A channel (one key) counts arrived messages or holds waiting receives, never both. Channels at rest stay in the
//   table until it fills up: an algorithm uses the same few again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "simulate/engine/match_key.h"
#include "simulate/engine/queue/callback.h"

namespace hespas::simulate {

class Matcher {
 public:
  explicit Matcher(uint32_t ranks) : table_(kFirstTable), early_(ranks, 0) {}

  // A message has arrived; returns true and the callback if its receive was posted, else remembers the arrival.
  bool Arrive(const MatchKey& key, Callback& receiver) {
    Channel& channel = At(key);
    if (channel.balance >= 0) {
      ++channel.balance;
      ++early_[key.destination];
      return false;
    }
    receiver = channel.first;
    if (++channel.balance < 0) channel.first = TakeSecond(key);
    return true;
  }

  // A receive is posted; returns true if its message had arrived already, else remembers the callback.
  bool Receive(const MatchKey& key, Callback receiver) {
    Channel& channel = At(key);
    if (--channel.balance >= 0) {
      --early_[key.destination];
      return true;
    }
    if (channel.balance == -1) {
      channel.first = receiver;
    } else {
      later_[Hash(key)].emplace_back(key, receiver);
    }
    return false;
  }

  // Messages that came to the rank before their receives were posted.
  uint32_t early(uint32_t rank) const { return early_[rank]; }
  // Hands over those of one key.
  uint32_t TakeEarly(const MatchKey& key) {
    Channel& channel = At(key);
    if (channel.balance <= 0) return 0;
    const auto count = static_cast<uint32_t>(channel.balance);
    early_[key.destination] -= count;
    channel.balance = 0;
    return count;
  }

  // Calls see(key, callback) for each receive that still waits.
  template <class See>
  void EachWaiting(See see) const {
    for (const Channel& channel : table_) {
      if (channel.balance < 0) see(channel.key, channel.first);
    }
  }
  // Calls see(key, count) for each key with messages that nobody received.
  template <class See>
  void EachUnreceived(See see) const {
    for (const Channel& channel : table_) {
      if (channel.balance > 0) see(channel.key, static_cast<uint32_t>(channel.balance));
    }
  }

 private:
  static constexpr size_t kFirstTable = 1024;

  struct Channel {
    MatchKey key;         // size 0: free
    int32_t balance = 0;  // messages that arrived, or (negative) receives that wait
    Callback first;       // the longest waiting receive
  };

  // Neighbouring sources of one destination are adjacent.
  static uint64_t Hash(const MatchKey& key) {
    uint64_t hash = (uint64_t{key.source / 8} << 32 | key.destination) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
    hash = (hash ^ key.tag ^ key.size << 24) * 0xBF58476D1CE4E5B9ull;
    return (hash >> 20 << 3) + key.source % 8;
  }

  Channel& At(const MatchKey& key) {
    const size_t mask = table_.size() - 1;
    size_t slot = Hash(key) & mask;
    for (; table_[slot].key.size != 0; slot = (slot + 1) & mask) {
      if (table_[slot].key == key) return table_[slot];
    }
    if (2 * ++used_ > table_.size()) {
      Clean();
      return At(key);
    }
    table_[slot].key = key;
    return table_[slot];
  }

  // Drops channels at rest; doubles the table where too many are busy.
  void Clean() {
    size_t busy = 0;
    for (const Channel& channel : table_) busy += channel.balance != 0 ? 1 : 0;
    std::vector<Channel> old(4 * busy > table_.size() ? 2 * table_.size() : table_.size());
    old.swap(table_);
    used_ = busy;
    const size_t mask = table_.size() - 1;
    for (const Channel& channel : old) {
      if (channel.balance == 0) continue;
      size_t slot = Hash(channel.key) & mask;
      while (table_[slot].key.size != 0) slot = (slot + 1) & mask;
      table_[slot] = channel;
    }
  }

  Callback TakeSecond(const MatchKey& key) {
    const auto list = later_.find(Hash(key));
    auto at = list->second.begin();
    while (!(at->first == key)) ++at;
    const Callback callback = at->second;
    list->second.erase(at);
    if (list->second.empty()) later_.erase(list);
    return callback;
  }

  std::vector<Channel> table_;
  std::unordered_map<uint64_t, std::deque<std::pair<MatchKey, Callback>>> later_;  // second and further receives
  std::vector<uint32_t> early_;                                                    // by destination
  size_t used_ = 0;
};

}  // namespace hespas::simulate
