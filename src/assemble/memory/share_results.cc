#include "assemble/memory/share_results.h"

#include <algorithm>

namespace hespas::assemble::memory {
namespace {

struct Span {
  uint32_t from;
  uint32_t until;
  bool Meets(const Span& other) const { return from <= other.until && other.from <= until; }
  uint32_t length() const { return until - from; }
};

// The buffer of a result, and when something lies in it.
struct Home {
  int64_t bytes;
  std::vector<Span> taken;
};

// The buffers that are large enough for what is looked at, in order of the results.
class Homes {
 public:
  explicit Homes(std::vector<Home>& all) : all_(all) {}

  void Add(uint32_t home) {
    const auto at = std::lower_bound(homes_.begin(), homes_.end(), home) - homes_.begin();
    homes_.insert(homes_.begin() + at, home);
    longest_.insert(longest_.begin() + at, all_[home].taken[0]);
  }
  // Puts `span` into the first buffer that is free then.
  bool Take(const Span& span) {
    for (size_t i = 0; i < homes_.size(); ++i) {
      if (longest_[i].Meets(span)) continue;
      std::vector<Span>& taken = all_[homes_[i]].taken;
      if (std::any_of(taken.begin(), taken.end(), [&](const Span& there) { return there.Meets(span); })) continue;
      taken.push_back(span);
      if (span.length() > longest_[i].length()) longest_[i] = span;
      return true;
    }
    return false;
  }

 private:
  std::vector<Home>& all_;
  std::vector<uint32_t> homes_;
  std::vector<Span> longest_;  // in each of them: most often what is in the way
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
  auto smaller = by_size.begin();  // homes from here on are too small
  Homes large_enough(homes);
  for (const uint32_t i : others) {
    Interval& other = intervals[i];
    for (; smaller != by_size.end() && homes[*smaller].bytes >= other.bytes; ++smaller) large_enough.Add(*smaller);
    if (large_enough.Take({other.from, other.until})) other.bytes = 0;
  }
  std::erase_if(intervals, [](const Interval& interval) { return interval.bytes == 0; });
  for (Interval& interval : intervals) {
    if (interval.result) interval.from = 0;
  }
}

}  // namespace hespas::assemble::memory
