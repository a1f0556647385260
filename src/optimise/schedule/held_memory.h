// What is held at a point of a schedule that is made backwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "optimise/schedule/memory_orders.h"

namespace hespas::optimise {

class HeldMemory {
 public:
  HeldMemory(const Dag& dag, int64_t limit) : dag_(dag), limit_(limit), held_(dag.buffer_bytes.size(), false) {}

  // Whether more is held than the limit, when an op is chosen.
  bool Exceeded() {
    const bool exceeded = bytes_ > limit_;
    if (exceeded) {
      least_beyond_ = std::min(least_beyond_, bytes_);
    } else {
      most_within_ = std::max(most_within_, bytes_);
    }
    return exceeded;
  }
  // Whether no more than the limit is held while the op runs.
  bool HasRoomFor(uint32_t op) const {
    int64_t bytes = bytes_;
    for (const uint32_t buffer : dag_.reads[op]) bytes += held_[buffer] ? 0 : dag_.buffer_bytes[buffer];
    return bytes <= limit_;
  }
  // Before the op, what it reads is held, and what it makes is not.
  void Place(uint32_t op) {
    for (const uint32_t buffer : dag_.reads[op]) {
      if (held_[buffer]) continue;
      held_[buffer] = true;
      bytes_ += dag_.buffer_bytes[buffer];
    }
    for (uint32_t buffer = dag_.first_buffer[op]; buffer < dag_.first_buffer[op + 1]; ++buffer) {
      if (held_[buffer]) bytes_ -= dag_.buffer_bytes[buffer];
    }
  }
  int64_t most_within() const { return most_within_; }
  int64_t least_beyond() const { return least_beyond_; }

 private:
  const Dag& dag_;
  int64_t limit_;
  std::vector<bool> held_;  // by buffer
  int64_t bytes_ = 0;
  int64_t most_within_ = 0;
  int64_t least_beyond_ = std::numeric_limits<int64_t>::max();
};

}  // namespace hespas::optimise
