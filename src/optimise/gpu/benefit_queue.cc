#include "optimise/gpu/benefit_queue.h"

namespace hespas::optimise {

void BenefitQueue::Set(NodeId id, double benefit) {
  ++version_[id.index()];
  is_outdated_[id.index()] = 0;
  benefit_[id.index()] = benefit;
  if (benefit >= 0) queue_.emplace(benefit, id.value, version_[id.index()]);
}

void BenefitQueue::PutOff(NodeId id) {
  if (is_outdated_[id.index()]) return;
  is_outdated_[id.index()] = 1;
  outdated_.push_back(id);
}

NodeId BenefitQueue::Pop() {
  const auto [benefit, node, version] = queue_.top();
  queue_.pop();
  return version == version_[node] ? NodeId(node) : NodeId();
}

}  // namespace hespas::optimise
