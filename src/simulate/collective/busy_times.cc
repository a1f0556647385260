#include "simulate/collective/busy_times.h"

#include <algorithm>

namespace hespas::simulate {

void BusyTimes::Compute(uint64_t start, uint64_t end) {
  busy_ += end - start;
  if (end > start) computed_.emplace_back(start, end);
}

void BusyTimes::MoveEnd(uint64_t from, uint64_t to) {
  busy_ += to - from;
  computed_.back().second = to;
}

BusyTimes::Intervals BusyTimes::Merged(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  Intervals merged;
  for (const auto& [start, end] : intervals) {
    if (merged.empty() || start > merged.back().second) {
      merged.emplace_back(start, end);
    } else {
      merged.back().second = std::max(merged.back().second, end);
    }
  }
  return merged;
}

uint64_t BusyTimes::Overlap(const Intervals& communicated) const {
  uint64_t overlap = 0;
  size_t i = 0;
  for (const auto& [start, end] : communicated) {
    while (i < computed_.size() && computed_[i].second <= start) ++i;
    for (size_t j = i; j < computed_.size() && computed_[j].first < end; ++j) {
      overlap += std::min(end, computed_[j].second) - std::max(start, computed_[j].first);
    }
  }
  return overlap;
}

result::RankResult BusyTimes::Result() && {
  const Intervals communicated = Merged(std::move(communicated_));
  uint64_t communicating = 0;
  for (const auto& [start, end] : communicated) communicating += end - start;
  return {.finish = finish_,
          .exposed = finish_ - busy_,
          .wall = finish_,
          .gpu = busy_,
          .comm = communicating,
          .overlap = Overlap(communicated)};
}

}  // namespace hespas::simulate
