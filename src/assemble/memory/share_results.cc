#include "assemble/memory/share_results.h"

#include <algorithm>
#include <utility>

namespace hespas::assemble::memory {
namespace {

// The buffer of a result, and when something lies in it.
struct Home {
  int64_t bytes;
  std::vector<std::pair<uint32_t, uint32_t>> taken;

  bool Take(uint32_t from, uint32_t until) {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i].second < from || until < taken[i].first) continue;
      // What is in the way once will be again.
      if (i > 0) std::swap(taken[i], taken[i / 2]);
      return false;
    }
    taken.emplace_back(from, until);
    return true;
  }
};

}  // namespace

void ShareResults(std::vector<Interval>& intervals) {
  constexpr size_t kMostPairs = 20'000'000;
  std::vector<Home> homes;
  std::vector<uint32_t> others;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    Interval& interval = intervals[i];
    if (interval.result) {
      homes.push_back({interval.bytes, {{interval.from, interval.until}}});
    } else {
      others.push_back(i);
    }
  }
  if (homes.empty() || homes.size() * others.size() > kMostPairs) return;
  std::stable_sort(others.begin(), others.end(),
                   [&](uint32_t a, uint32_t b) { return intervals[a].bytes > intervals[b].bytes; });
  std::vector<uint32_t> by_size(homes.size());
  for (uint32_t i = 0; i < by_size.size(); ++i) by_size[i] = i;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](uint32_t a, uint32_t b) { return homes[a].bytes > homes[b].bytes; });
  auto smaller = by_size.begin();      // homes from here on are too small
  std::vector<uint32_t> large_enough;  // in order of the results
  for (const uint32_t i : others) {
    Interval& other = intervals[i];
    for (; smaller != by_size.end() && homes[*smaller].bytes >= other.bytes; ++smaller) {
      large_enough.insert(std::lower_bound(large_enough.begin(), large_enough.end(), *smaller), *smaller);
    }
    const bool housed = std::any_of(large_enough.begin(), large_enough.end(),
                                    [&](uint32_t home) { return homes[home].Take(other.from, other.until); });
    if (housed) other.bytes = 0;
  }
  std::erase_if(intervals, [](const Interval& interval) { return interval.bytes == 0; });
  for (Interval& interval : intervals) {
    if (interval.result) interval.from = 0;
  }
}

}  // namespace hespas::assemble::memory
