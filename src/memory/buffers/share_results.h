// XLA's buffer assignment: results of a program have buffers of their own from the start, donated arguments and what a
// loop carries have a time between their last use and their next value; others may be in both, the largest first, in
// the smallest buffer that has room.
#pragma once

#include <vector>

#include "memory/liveness.h"

namespace hespas::memory {

struct Span {
  uint32_t from;
  uint32_t until;
  uint32_t owner = 0xFFFFFFFFu;      // number of the value
  uint32_t reused_by = 0xFFFFFFFFu;  // of the value that may be written over it

  // Two that meet where one is written over the other do not.
  bool Overlaps(const Span& other) const {
    constexpr uint32_t kNone = 0xFFFFFFFFu;
    if (from > other.until || other.from > until) return false;
    if (until == other.from && reused_by != kNone && reused_by == other.owner) return false;
    return other.until != from || other.reused_by == kNone || other.reused_by != owner;
  }
};

// A buffer, and the spans in which it is occupied.
struct ReusableBuffer {
  int64_t bytes;
  std::vector<Span> taken;
};

// Drops the intervals that are in a result's or a donated buffer; results are held from the start.
void ShareResults(std::vector<Interval>& intervals, const std::vector<ReusableBuffer>& donated);

// Of two temporaries of which the second reuses the first, the first ends before the second begins.
void EndReused(std::vector<Interval>& intervals);

}  // namespace hespas::memory
