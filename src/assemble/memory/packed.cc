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

// Chunks by when they are alive. What overlaps a time either is alive when that begins (the lists between a leaf of a
// tree over the starts and its root) or starts within it.
class Placed {
 public:
  explicit Placed(std::span<const Interval> intervals) {
    for (const Interval& interval : intervals) starts_.push_back(interval.from);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    alive_.resize(2 * starts_.size());
    starting_.resize(starts_.size());
  }

  void Add(const Chunk& chunk) {
    size_t low = First(chunk.from);
    size_t high = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), chunk.until) - starts_.begin());
    starting_[low].push_back(chunk);
    for (low += starts_.size(), high += starts_.size(); low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) alive_[low++].push_back(chunk);
      if (high % 2 == 1) alive_[--high].push_back(chunk);
    }
  }

  // In order of `begin`; valid until the next call.
  const std::vector<Chunk>& Overlapping(const Interval& interval) {
    found_.clear();
    size_t at = First(interval.from);
    for (size_t node = at + starts_.size(); node > 0; node /= 2) {
      found_.insert(found_.end(), alive_[node].begin(), alive_[node].end());
    }
    for (++at; at < starts_.size() && starts_[at] <= interval.until; ++at) {
      found_.insert(found_.end(), starting_[at].begin(), starting_[at].end());
    }
    std::sort(found_.begin(), found_.end(), [](const Chunk& a, const Chunk& b) { return a.begin < b.begin; });
    return found_;
  }

 private:
  size_t First(uint32_t from) const {
    return static_cast<size_t>(std::lower_bound(starts_.begin(), starts_.end(), from) - starts_.begin());
  }

  std::vector<uint32_t> starts_;
  std::vector<std::vector<Chunk>> alive_;     // by node of the tree: alive at all its starts
  std::vector<std::vector<Chunk>> starting_;  // by start
  std::vector<Chunk> found_;
};

// The lowest place in the smallest gap.
int64_t PlaceFor(const Interval& interval, Placed& placed) {
  int64_t top = 0;
  int64_t best = -1;
  int64_t smallest = 0;
  for (const Chunk& chunk : placed.Overlapping(interval)) {
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
  Placed placed(temporaries);
  int64_t size = 0;
  for (const Interval& interval : temporaries) {
    const int64_t begin = PlaceFor(interval, placed);
    const Chunk chunk{begin, begin + interval.bytes, interval.from, interval.until};
    placed.Add(chunk);
    size = std::max(size, chunk.end);
  }
  return size - alive;
}

}  // namespace hespas::assemble::memory
