// When a rank computes and communicates.
//
// - A send and a receive at the same time count once. What is computed meanwhile is overlap.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "result/sim_result.h"

namespace hespas::simulate {

class BusyTimes {
 public:
  // In order of start.
  void Compute(uint64_t start, uint64_t end);
  // The last kernel ends later, or earlier.
  void MoveEnd(uint64_t from, uint64_t to);
  void Communicate(uint64_t start, uint64_t end) { communicated_.emplace_back(start, end); }
  void Finish(uint64_t at) { finish_ = at > finish_ ? at : finish_; }

  result::RankResult Result() &&;

 private:
  using Intervals = std::vector<std::pair<uint64_t, uint64_t>>;
  static Intervals Merged(Intervals intervals);
  uint64_t Overlap(const Intervals& communicated) const;

  uint64_t finish_ = 0;
  uint64_t busy_ = 0;
  Intervals computed_, communicated_;
};

}  // namespace hespas::simulate
