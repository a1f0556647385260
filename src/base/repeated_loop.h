// RepeatedLoop: one execution of a loop of which only some iterations are laid out one by one.
//
// - Iteration k of those laid out consists of the blocks from first_block[k] to first_block[k + 1].
// - Iterations `first` to `first + count` represent those omitted, too: each counts repeats() times.
// - Loops within come before the loop around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hespas {

struct RepeatedLoop {
  std::vector<uint32_t> first_block;  // of each iteration laid out, and behind the last
  size_t first = 0;
  size_t count = 1;
  int64_t left_out = 0;  // iterations, a multiple of `count`

  int64_t repeats() const { return 1 + left_out / static_cast<int64_t>(count); }
};

// How many of a loop's iterations are laid out where `window` of them represent the rest: two windows to come into
// step, the one that is repeated, and an end that makes the rest a multiple of the window. 0: all.
inline int64_t IterationsLaidOut(int64_t iterations, int64_t window) {
  const int64_t least = 3 * window + 1;
  if (window == 0 || iterations < least + window) return iterations;
  return least + (iterations - least) % window;
}

}  // namespace hespas
