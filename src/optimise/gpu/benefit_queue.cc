#include "optimise/gpu/benefit_queue.h"

namespace hespas::optimise {

void BenefitQueue::Set(NodeId id, double benefit) {
  ++version_[id.index()];
  is_outdated_[id.index()] = 0;
  benefit_[id.index()] = benefit;
  if (benefit >= 0) queue_.emplace(benefit, made_[id.index()], id.value, version_[id.index()]);
}

void BenefitQueue::TakeIn(NodeId id) {
  uint32_t& made = made_[id.index()];
  if (made >= made_.size()) return;
  made = next_++;
  if (version_[id.index()] != 0 && !is_outdated_[id.index()]) Set(id, benefit_[id.index()]);
}

void BenefitQueue::PutOff(NodeId id) {
  if (is_outdated_[id.index()]) return;
  is_outdated_[id.index()] = 1;
  outdated_.push_back(id);
}

NodeId BenefitQueue::Pop() {
  const auto [benefit, made, node, version] = queue_.top();
  queue_.pop();
  return version == version_[node] ? NodeId(node) : NodeId();
}

}  // namespace hespas::optimise
