#include "memory/buffers/heap_packing.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/units.h"

namespace hespas::memory {
namespace {

using Range = std::pair<int64_t, int64_t>;  // of addresses

// Addresses that are taken, as few ranges as possible.
class Ranges {
 public:
  void Add(Range added) {
    auto first = std::lower_bound(ranges_.begin(), ranges_.end(), added.first,
                                  [](const Range& range, int64_t begin) { return range.second < begin; });
    auto last = first;
    for (; last != ranges_.end() && last->first <= added.second; ++last) {
      added = {std::min(added.first, last->first), std::max(added.second, last->second)};
    }
    if (first == last) {
      ranges_.insert(first, added);
    } else {
      *first = added;
      ranges_.erase(first + 1, last);
    }
  }
  const std::vector<Range>& all() const { return ranges_; }

 private:
  std::vector<Range> ranges_;  // ascending, apart
};

// What is taken at which time: a tree over the times at which something starts. Each node keeps what is taken at all of
// its times (unless a node above does), and what is at any of them.
class Placed {
 public:
  explicit Placed(std::span<const Interval> intervals) {
    for (const Interval& interval : intervals) starts_.push_back(interval.from);
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    leaves_ = std::bit_ceil(std::max<size_t>(1, starts_.size()));
    always_.resize(2 * leaves_);
    sometimes_.resize(2 * leaves_);
  }

  void Add(const Interval& interval, Range range) {
    const auto [begin, end] = TimesOf(interval);
    for (size_t low = begin, high = end; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) AddAll(low++, range);
      if (high % 2 == 1) AddAll(--high, range);
    }
    for (const size_t leaf : {begin, end - 1}) {
      for (size_t node = leaf; node > 0; node /= 2) sometimes_[node].Add(range);
    }
  }

  // What is taken while the interval lives, in order of addresses; valid until the next call.
  const std::vector<Range>& Taken(const Interval& interval) {
    found_.clear();
    const auto collect = [&](const Ranges& ranges) {
      found_.insert(found_.end(), ranges.all().begin(), ranges.all().end());
    };
    const auto [begin, end] = TimesOf(interval);
    for (const size_t leaf : {begin, end - 1}) {
      for (size_t node = leaf; node > 0; node /= 2) collect(always_[node]);
    }
    for (size_t low = begin, high = end; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) collect(sometimes_[low++]);
      if (high % 2 == 1) collect(sometimes_[--high]);
    }
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  // Leaves, the last one excluded. What overlaps shares the time at which the later one starts.
  std::pair<size_t, size_t> TimesOf(const Interval& interval) const {
    const auto from = std::lower_bound(starts_.begin(), starts_.end(), interval.from);
    const auto until = std::upper_bound(starts_.begin(), starts_.end(), interval.until);
    return {leaves_ + static_cast<size_t>(from - starts_.begin()),
            leaves_ + static_cast<size_t>(until - starts_.begin())};
  }

  void AddAll(size_t node, Range range) {
    always_[node].Add(range);
    sometimes_[node].Add(range);
  }

  std::vector<uint32_t> starts_;
  size_t leaves_ = 0;
  std::vector<Ranges> always_;     // by node, those above it omitted
  std::vector<Ranges> sometimes_;  // by node, those of nodes below it included
  std::vector<Range> found_;
};

// The lowest place in the smallest gap.
int64_t PlaceFor(const Interval& interval, Placed& placed) {
  int64_t top = 0;
  int64_t best = -1;
  int64_t smallest = 0;
  for (const auto& [begin, end] : placed.Taken(interval)) {
    const int64_t gap = begin - top;
    if (gap >= interval.bytes && (best < 0 || gap < smallest)) std::tie(best, smallest) = std::pair(top, gap);
    top = std::max(top, end);
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

// Of the buffers, placed in this order.
int64_t SizeOf(std::span<const Interval> intervals) {
  Placed placed(intervals);
  int64_t size = 0;
  for (const Interval& interval : intervals) {
    const int64_t begin = PlaceFor(interval, placed);
    placed.Add(interval, {begin, begin + interval.bytes});
    size = std::max(size, begin + interval.bytes);
  }
  return size;
}

}  // namespace

int64_t FragmentationOf(std::span<const Interval> intervals) {
  constexpr int64_t kSmallShare = 10'000;
  constexpr int64_t kLarge = int64_t{1} << 50;  // sums stay far from overflow
  std::vector<Interval> temporaries;
  std::copy_if(intervals.begin(), intervals.end(), std::back_inserter(temporaries),
               [](const Interval& interval) { return !interval.result; });
  const int64_t least = HighestSum(temporaries) / kSmallShare;
  std::erase_if(temporaries, [&](const Interval& interval) { return interval.bytes <= least; });
  const int64_t alive = HighestSum(temporaries);
  if (alive > kLarge) return 0;
  const auto key = [](const Interval& interval, bool by_size) {
    const int64_t lives = int64_t{interval.until} - interval.from;
    return by_size ? std::tuple(-interval.bytes, -lives, interval.owner)
                   : std::tuple(-lives, -interval.bytes, interval.owner);
  };
  int64_t least_size = std::numeric_limits<int64_t>::max();
  for (const bool by_size : {true, false}) {
    if (least_size == alive) break;
    std::sort(temporaries.begin(), temporaries.end(),
              [&](const Interval& a, const Interval& b) { return key(a, by_size) < key(b, by_size); });
    least_size = std::min(least_size, SizeOf(temporaries));
  }
  return least_size - alive;
}

}  // namespace hespas::memory
