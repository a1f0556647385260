// XLA's buffer assignment: results of a program have buffers of their own from the start, donated arguments and what a
// loop carries have a time between their last use and their next value; others may lie in both, the largest first, in
// the smallest buffer that has room.
#pragma once

#include <vector>

#include "memory/liveness.h"

namespace hespas::memory {

struct Span {
  uint32_t from;
  uint32_t until;
  uint32_t owner = 0xFFFFFFFFu;  // number of the value
  uint32_t taker = 0xFFFFFFFFu;  // of the value that may be written over it
  bool Meets(const Span& other) const;
};

// A buffer, and when something lies in it.
struct Home {
  int64_t bytes;
  std::vector<Span> taken;
};

// Drops the intervals that lie in a result's or a lent buffer; results are held from the start.
void ShareResults(std::vector<Interval>& intervals, const std::vector<Home>& lent);

// Of two temporaries of which one is written over the other, the first ends before the second begins.
void EndTakenOver(std::vector<Interval>& intervals);

}  // namespace hespas::memory
