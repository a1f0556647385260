#include "serve/decode_group.h"

#include <algorithm>

namespace hespas::serve {

bool DecodeGroup::Admits(const Job& job, int64_t blocks) const {
  const int64_t room = Room(job, blocks);
  return !needs_.empty() && room >= 0 && (room < block_ || !Grows(job, blocks));
}

void DecodeGroup::Count(const Entry& entry, const Job& job, int64_t times) {
  size_ += times;
  context_ += times * job.computed;
  to_come_ += times * (job.output - job.produced);
  if (entry.need != kNoNeed) needs_[static_cast<size_t>(entry.need)] += times;
}

DecodeGroup::Entry DecodeGroup::Join(const Job& job, int64_t blocks) {
  Entry entry{.step = step_, .blocks = blocks, .order = joined_++};
  if (Grows(job, blocks)) entry.need = (step_ + Room(job, blocks)) % block_;
  ends_.emplace(EndOf(entry, job), entry.order);
  seen_ = job.seen;
  Count(entry, job, 1);
  return entry;
}

const std::vector<int64_t>& DecodeGroup::TakeEnded() {
  for (ended_.clear(); !ends_.empty() && ends_.top().first <= step_; ends_.pop()) ended_.push_back(ends_.top().second);
  return ended_;
}

void DecodeGroup::Leave(Entry entry, const Job& job) { Count(entry, job, -1); }

int64_t DecodeGroup::Bring(Entry entry, Job& job) const {
  const int64_t steps = step_ - entry.step;
  job.computed += steps;
  job.produced += steps;
  job.seen = seen_;
  const int64_t tokens = job.computed - job.shared;
  return std::max(entry.blocks, (tokens + block_ - 1) / block_);
}

void DecodeGroup::Step(double now) {
  ++step_;
  context_ += size_;
  to_come_ -= size_;
  seen_ = now;
}

}  // namespace hespas::serve
