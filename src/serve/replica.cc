#include "serve/replica.h"

#include <algorithm>
#include <numeric>

namespace hespas::serve {
namespace {

template <typename Value>
auto Sum(const std::vector<Lane>& lanes, Value value) {
  return std::accumulate(lanes.begin(), lanes.end(), decltype(value(lanes.front())){},
                         [&](auto sum, const Lane& lane) { return sum + value(lane); });
}

}  // namespace

Replica::Replica(const Policy& policy, const StepModel& steps, uint64_t seed)
    : policy_(policy), model_(steps), under_way_(static_cast<size_t>(policy.stages), 0), stages_(policy.stages) {
  const int64_t blocks = policy.blocks > 0 ? std::max<int64_t>(policy.blocks / policy.stages, 1) : 0;
  for (int64_t i = 0; i < policy.stages; ++i) lanes_.emplace_back(policy, blocks, seed + static_cast<uint64_t>(i));
}

void Replica::Submit(const Job& job) {
  blocked_ = false;
  const auto lane =
      std::min_element(lanes_.begin(), lanes_.end(), [](const Lane& a, const Lane& b) { return a.load() < b.load(); });
  if (lane->load() == 0 && under_way_[static_cast<size_t>(lane - lanes_.begin())] == 0) ++with_work_;
  lane->Submit(job);
}

size_t Replica::running() const {
  return Sum(lanes_, [](const Lane& lane) { return lane.running(); });
}
size_t Replica::waiting() const {
  return Sum(lanes_, [](const Lane& lane) { return lane.waiting(); });
}
int64_t Replica::free_blocks() const {
  return Sum(lanes_, [](const Lane& lane) { return lane.free_blocks(); });
}
ReplicaCounts Replica::counts() const {
  ReplicaCounts counts = counts_;
  counts.preemptions = Sum(lanes_, [](const Lane& lane) { return lane.preemptions(); });
  return counts;
}

const Lane* Replica::Start(double now) {
  if (blocked_ || now < stages_.first_free()) return nullptr;
  if (with_work_ == 0) {
    blocked_ = true;
    return nullptr;
  }
  bool changed = false;  // by a lane that freed or took blocks and still cannot run
  for (size_t tried = 0; tried < lanes_.size(); ++tried) {
    const size_t index = (next_ + tried) % lanes_.size();
    if (under_way_[index] != 0 || lanes_[index].load() == 0) continue;
    const int64_t before = lanes_[index].preemptions();
    const StepShape shape = lanes_[index].Begin();
    if (shape.rows() == 0) {
      changed = changed || lanes_[index].preemptions() != before || !lanes_[index].admitted().empty();
      continue;
    }
    steps_.push_back({.end = Enter(shape, now), .lane = index});
    under_way_[index] = 1;
    --with_work_;
    last_step_ = {now, steps_.back().end, shape.decode_rows, shape.prompt_tokens};
    next_ = (index + 1) % lanes_.size();
    return &lanes_[index];
  }
  blocked_ = !changed;
  return nullptr;
}

// The stages share a step's device time equally; the host works for the first.
double Replica::Enter(const StepShape& shape, double now) {
  const StepCost cost = model_.CostOf(shape);
  const Overheads& o = policy_.overheads;
  const double host = o.request_s * (shape.decode_requests + shape.prompt_requests);
  const auto count = static_cast<double>(policy_.stages);
  const double stage = cost.seconds / count;
  const double entry = OnGrid(o.step_s + (o.asynchronous ? std::max(stage, host) : stage + host));
  counts_.busy_s += entry;
  counts_.parts[static_cast<size_t>(Part::kHost)] += entry + (count - 1) * stage - cost.seconds;
  Count(shape, cost);
  return stages_.Enter(now + entry, OnGrid(stage));
}

void Replica::Count(const StepShape& shape, const StepCost& cost) {
  ++counts_.steps;
  counts_.computed_tokens += shape.rows();
  if (shape.decode_requests > 0) {
    counts_.decode_steps += 1;
    counts_.decode_requests += shape.decode_requests;
  }
  for (size_t i = 0; i < kParts; ++i) counts_.parts[i] += cost.parts[i];
}

void Replica::Finish(double now, std::vector<Delivery>& delivered) {
  const size_t lane = steps_.front().lane;
  steps_.pop_front();
  under_way_[lane] = 0;
  blocked_ = false;
  lanes_[lane].Finish(now, delivered);
  if (lanes_[lane].load() > 0) ++with_work_;
}

}  // namespace hespas::serve
