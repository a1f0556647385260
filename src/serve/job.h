// A request inside an engine, and what a step's end tells of requests.
#pragma once

#include <cstdint>

namespace hespas::serve {

inline constexpr double kUnseen = -1;  // time of a request without a token

struct Job {
  int32_t request = 0;
  int64_t input = 1;      // tokens of the prompt
  int64_t output = 1;     // to produce
  int64_t produced = 0;   // before: by a prefill worker
  int64_t computed = 0;   // tokens whose keys and values are in the cache
  int64_t shared = 0;     // of them in blocks of a common prefix
  int64_t swapped = 0;    // tokens that wait in the host's memory
  double seen = kUnseen;  // end of the step that produced the last token
};

// Tokens that a step's end delivered to one request, or to several that had their last ones at one time.
struct Delivery {
  int32_t request = kSeveral;
  int64_t gaps = 1;       // requests that waited since `seen`
  double seen = kUnseen;  // of their last tokens
  bool finished = false;
  static constexpr int32_t kSeveral = -1;
};

}  // namespace hespas::serve
