#include "memory/buffers/share_results.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hespas::memory {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFFu;

uint32_t Length(const Span& span) { return span.until - span.from; }

struct Earlier {
  bool operator()(const Span& a, const Span& b) const {
    return std::tie(a.from, a.until, a.owner) < std::tie(b.from, b.until, b.owner);
  }
};

// A buffer's spans, of which no two meet: in order of their starts they are in order of their ends.
class Taken {
 public:
  explicit Taken(std::vector<Span> spans) : spans_(std::move(spans)) {
    std::sort(spans_.begin(), spans_.end(), Earlier());
    longest_ = *std::max_element(spans_.begin(), spans_.end(),
                                 [](const Span& a, const Span& b) { return Length(a) < Length(b); });
  }

  bool Take(const Span& span) {
    const Span last{.from = span.until, .until = kNone};
    for (auto at = std::upper_bound(spans_.begin(), spans_.end(), last, Earlier()); at != spans_.begin();) {
      --at;
      if (at->Overlaps(span)) return false;
      if (at->until < span.from) break;
    }
    spans_.insert(std::upper_bound(spans_.begin(), spans_.end(), span, Earlier()), span);
    if (Length(span) > Length(longest_)) longest_ = span;
    return true;
  }
  const Span& longest() const { return longest_; }

 private:
  std::vector<Span> spans_;  // by Earlier
  Span longest_{};
};

// The buffers that are large enough for what is looked at; the smallest come last.
class ReusableBuffers {
 public:
  void Add(const ReusableBuffer& buffer) {
    buffers_.emplace_back(buffer.taken);
    longest_.push_back(buffers_.back().longest());
  }

  // Puts `span` into the smallest buffer that is free then.
  bool Take(const Span& span) {
    for (size_t i = buffers_.size(); i-- > 0;) {
      const Span& longest = longest_[i];  // most often what is in the way
      if (span.from < longest.until && longest.from < span.until) continue;
      if (longest.Overlaps(span) || !buffers_[i].Take(span)) continue;
      longest_[i] = buffers_[i].longest();
      return true;
    }
    return false;
  }

 private:
  std::vector<Taken> buffers_;
  std::vector<Span> longest_;  // of each, close together
};

}  // namespace

void ShareResults(std::vector<Interval>& intervals, const std::vector<ReusableBuffer>& donated) {
  constexpr size_t kMostPairs = 20'000'000;
  std::vector<ReusableBuffer> buffers = donated;
  std::vector<uint32_t> others;
  const auto span = [&](const Interval& interval) {
    return Span{interval.from, interval.until, interval.owner, interval.reused_by};
  };
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].result) {
      buffers.push_back({intervals[i].bytes, {span(intervals[i])}});
    } else {
      others.push_back(i);
    }
  }
  if (buffers.empty() || buffers.size() * others.size() > kMostPairs) return;
  std::sort(others.begin(), others.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(-intervals[a].bytes, intervals[a].rank, a) <
           std::tuple(-intervals[b].bytes, intervals[b].rank, b);
  });
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const ReusableBuffer& a, const ReusableBuffer& b) { return a.bytes > b.bytes; });
  auto smaller = buffers.begin();  // buffers from here on are too small
  ReusableBuffers large_enough;
  for (const uint32_t i : others) {
    for (; smaller != buffers.end() && smaller->bytes >= intervals[i].bytes; ++smaller) {
      large_enough.Add(*smaller);
    }
    if (large_enough.Take(span(intervals[i]))) intervals[i].bytes = 0;
  }
  std::erase_if(intervals, [](const Interval& interval) { return interval.bytes == 0; });
  for (Interval& interval : intervals) {
    if (interval.result) interval.from = 0;
  }
}

void EndReused(std::vector<Interval>& intervals) {
  std::vector<bool> is_temporary;  // by owner
  for (const Interval& interval : intervals) {
    if (interval.result) continue;
    if (interval.owner >= is_temporary.size()) is_temporary.resize(2 * size_t{interval.owner} + 1);
    is_temporary[interval.owner] = true;
  }
  for (Interval& interval : intervals) {
    const bool reused = interval.reused_directly && interval.reused_by < is_temporary.size();
    if (reused && is_temporary[interval.reused_by] && interval.until > interval.from) --interval.until;
  }
}

}  // namespace hespas::memory
