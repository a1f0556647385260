// The queue of priority fusion: values by benefit, with stale entries skipped.
//
// - The highest benefit comes first; among equals the kernel that XLA made last: an op becomes a new one where it takes
//   in the first value, and before that ops were made in the order of the program.
// - A value that was put off is given back by TakeOutdated() once the queue is empty.
#pragma once

#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

class BenefitQueue {
 public:
  explicit BenefitQueue(size_t node_count)
      : benefit_(node_count, 0), version_(node_count, 0), is_outdated_(node_count, 0), made_(node_count) {
    std::iota(made_.begin(), made_.end(), 0U);
  }

  // Only values with a benefit that is not negative are queued; earlier entries of the value become stale.
  void Set(NodeId id, double benefit);
  double benefit(NodeId id) const { return benefit_[id.index()]; }

  // Its kernel takes in a value.
  void TakeIn(NodeId id);
  // Whether it comes before another one of the same benefit.
  bool IsNewer(NodeId id, NodeId other) const { return made_[id.index()] > made_[other.index()]; }

  void PutOff(NodeId id);
  bool IsOutdated(NodeId id) const { return is_outdated_[id.index()] != 0; }
  std::vector<NodeId> TakeOutdated() { return std::exchange(outdated_, {}); }

  bool empty() const { return queue_.empty(); }
  bool done() const { return queue_.empty() && outdated_.empty(); }
  // The next value; invalid for a stale entry.
  NodeId Pop();

 private:
  std::vector<double> benefit_;    // by node: seconds
  std::vector<uint32_t> version_;  // by node: of its benefit
  std::vector<char> is_outdated_;  // by node
  std::vector<NodeId> outdated_;
  std::vector<uint32_t> made_;  // by node: its number in the order in which kernels were made
  uint32_t next_ = static_cast<uint32_t>(made_.size());
  std::priority_queue<std::tuple<double, uint32_t, uint32_t, uint32_t>> queue_;  // benefit, made, node, version
};

}  // namespace hespas::optimise
