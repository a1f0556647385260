#include "assemble/memory/packed.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/units.h"

namespace hespas::assemble::memory {
namespace {

struct Chunk {
  int64_t begin;
  int64_t end;
  uint32_t from;
  uint32_t until;
};

// The lowest place in the smallest gap; `placed` is in order of `begin`.
int64_t PlaceFor(const Interval& interval, const std::vector<Chunk>& placed) {
  int64_t top = 0;
  int64_t best = -1;
  int64_t smallest = 0;
  for (const Chunk& chunk : placed) {
    if (chunk.from > interval.until || interval.from > chunk.until) continue;
    const int64_t gap = chunk.begin - top;
    if (gap >= interval.bytes && (best < 0 || gap < smallest)) std::tie(best, smallest) = std::pair(top, gap);
    top = std::max(top, chunk.end);
  }
  return best < 0 ? top : best;
}

int64_t HighestSum(std::span<const Interval> intervals) {
  std::map<uint32_t, int64_t> change;
  for (const Interval& interval : intervals) {
    int64_t& begin = change[interval.from];
    begin = internal::SaturatingAdd(begin, interval.bytes);
    int64_t& end = change[interval.until + 1];
    end = internal::SaturatingSubtract(end, interval.bytes);
  }
  int64_t held = 0;
  int64_t most = 0;
  for (const auto& [at, bytes] : change) {
    held = internal::SaturatingAdd(held, bytes);
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

int64_t GapsOf(std::span<const Interval> intervals) {
  constexpr int64_t kSmallShare = 10'000;
  constexpr int64_t kLarge = int64_t{1} << 50;  // sums stay far from overflow
  std::vector<Interval> temporaries;
  std::copy_if(intervals.begin(), intervals.end(), std::back_inserter(temporaries),
               [](const Interval& interval) { return !interval.result; });
  const int64_t least = HighestSum(temporaries) / kSmallShare;
  std::erase_if(temporaries, [&](const Interval& interval) { return interval.bytes <= least; });
  const int64_t alive = HighestSum(temporaries);
  if (alive > kLarge) return 0;
  std::sort(temporaries.begin(), temporaries.end(), [](const Interval& a, const Interval& b) {
    return std::tuple(-a.bytes, -int64_t{a.until - a.from}, a.owner) <
           std::tuple(-b.bytes, -int64_t{b.until - b.from}, b.owner);
  });
  std::vector<Chunk> placed;
  int64_t size = 0;
  for (const Interval& interval : temporaries) {
    const int64_t begin = PlaceFor(interval, placed);
    const Chunk chunk{begin, begin + interval.bytes, interval.from, interval.until};
    const auto behind = std::upper_bound(placed.begin(), placed.end(), chunk,
                                         [](const Chunk& a, const Chunk& b) { return a.begin < b.begin; });
    placed.insert(behind, chunk);
    size = std::max(size, chunk.end);
  }
  return size - alive;
}

}  // namespace hespas::assemble::memory
