// Callbacks by time, and by the order of the calls where times are equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "simulate/engine/queue/pool.h"

namespace hespas::simulate {

class CallbackAgenda {
 public:
  using Callback = std::function<void()>;

  void Add(uint64_t tick, Callback callback) {
    heap_.push_back({tick, next_++, callbacks_.Take(std::move(callback))});
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool empty() const { return heap_.empty(); }
  uint64_t first() const { return heap_.front().tick; }
  Callback TakeFirst() {
    std::pop_heap(heap_.begin(), heap_.end());
    const uint32_t slot = heap_.back().slot;
    heap_.pop_back();
    Callback callback = std::move(callbacks_[slot]);
    callbacks_.Release(slot);
    return callback;
  }

 private:
  struct Entry {
    uint64_t tick;
    uint64_t order;
    uint32_t slot;
    bool operator<(const Entry& other) const {
      return std::pair(tick, order) > std::pair(other.tick, other.order);  // std's heaps have the largest first
    }
  };
  std::vector<Entry> heap_;
  Pool<Callback> callbacks_;
  uint64_t next_ = 0;
};

}  // namespace hespas::simulate
