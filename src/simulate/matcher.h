// Pairs sends and receives by (tag, source, destination, size): the k-th of one with the k-th of the other
// (spec astra-sim section 3.1). Messages of one key arrive in the order they were sent.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/callback.h"
#include "simulate/pool.h"

namespace hespas::simulate {

struct MatchKey {
  uint64_t size = 0;
  uint32_t tag = 0;
  uint32_t source = 0;
  uint32_t destination = 0;
  bool operator==(const MatchKey&) const = default;
};

class Matcher {
 public:
  Matcher() : table_(kFirstTable) {}

  // A message has arrived; returns true and the callback if its receive was posted, else remembers the arrival.
  bool Arrive(const MatchKey& key, Callback& receiver) {
    Entry& entry = At(key);
    if (entry.first != kNil) {
      const uint32_t index = entry.first;
      receiver = waiting_[index].callback;
      entry.first = waiting_[index].next;
      waiting_.Release(index);
      if (entry.first == kNil) Remove(entry);
      return true;
    }
    ++entry.arrived;
    return false;
  }

  // A receive is posted; returns true if its message had arrived already, else remembers the callback.
  bool Receive(const MatchKey& key, Callback receiver) {
    Entry& entry = At(key);
    if (entry.arrived > 0) {
      if (--entry.arrived == 0) Remove(entry);
      return true;
    }
    const uint32_t index = waiting_.Take({receiver, kNil});
    if (entry.first == kNil) {
      entry.first = index;
    } else {
      waiting_[entry.last].next = index;
    }
    entry.last = index;
    return false;
  }

  // Calls see(key, callback) for each receive that still waits.
  template <class See>
  void EachWaiting(See see) const {
    for (const Entry& entry : table_) {
      for (uint32_t at = entry.used ? entry.first : kNil; at != kNil; at = waiting_[at].next) {
        see(entry.key, waiting_[at].callback);
      }
    }
  }
  // Calls see(key, count) for each key with messages that nobody received.
  template <class See>
  void EachUnreceived(See see) const {
    for (const Entry& entry : table_) {
      if (entry.used && entry.arrived > 0) see(entry.key, entry.arrived);
    }
  }

 private:
  static constexpr size_t kFirstTable = 256;

  struct Waiting {
    Callback callback;
    uint32_t next = kNil;
  };
  struct Entry {
    MatchKey key;
    uint32_t arrived = 0;
    uint32_t first = kNil;
    uint32_t last = kNil;
    bool used = false;
  };

  size_t Slot(const MatchKey& key) const {
    uint64_t hash = (uint64_t{key.source} << 32 | key.destination) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
    hash = (hash ^ key.tag ^ key.size << 24) * 0xBF58476D1CE4E5B9ull;
    return (hash >> 24) & (table_.size() - 1);
  }

  Entry& At(const MatchKey& key) {
    size_t slot = Slot(key);
    for (; table_[slot].used; slot = (slot + 1) & (table_.size() - 1)) {
      if (table_[slot].key == key) return table_[slot];
    }
    if (2 * ++count_ > table_.size()) {
      --count_;
      Grow();
      return At(key);
    }
    table_[slot] = {.key = key, .used = true};
    return table_[slot];
  }

  void Remove(Entry& entry) {
    const size_t mask = table_.size() - 1;
    auto hole = static_cast<size_t>(&entry - table_.data());
    for (size_t slot = (hole + 1) & mask; table_[slot].used; slot = (slot + 1) & mask) {
      if (((slot - Slot(table_[slot].key)) & mask) < ((slot - hole) & mask)) continue;
      table_[hole] = table_[slot];
      hole = slot;
    }
    table_[hole] = Entry{};
    --count_;
  }

  void Grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry& entry : old) {
      if (!entry.used) continue;
      size_t slot = Slot(entry.key);
      while (table_[slot].used) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = entry;
    }
  }

  std::vector<Entry> table_;
  Pool<Waiting> waiting_;
  size_t count_ = 0;
};

}  // namespace hespas::simulate
