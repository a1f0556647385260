#include "optimise/fusion/kernels.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {

bool Members::Belongs(NodeId id, uint32_t kernel) const {
  const FusionClass kind = plan_.classes[id.index()];
  if (kind == FusionClass::kUnfusible) return false;
  return kind == FusionClass::kCheap || !plan_.materialized[id.index()] || plan_.kernel[id.index()] == kernel;
}

const std::vector<NodeId>& Members::Of(uint32_t kernel) {
  ++call_;
  found_.clear();
  const auto enter = [&](NodeId id) {
    if (seen_[id.index()] == call_) return;
    seen_[id.index()] = call_;
    stack_.emplace_back(id, 0);
  };
  for (const NodeId root : plan_.roots[kernel]) {
    enter(root);
    while (!stack_.empty()) {
      auto& [id, next] = stack_.back();
      const auto& operands = flow_.node(id).operands;
      if (next == operands.size()) {
        found_.push_back(id);
        stack_.pop_back();
        continue;
      }
      const NodeId producer = flow_.producer(operands[next++]);
      if (!producer.valid() || seen_[producer.index()] == call_ || !Belongs(producer, kernel)) continue;
      const bool outside = flow_.node(id).kind == ir::OpKind::kScatter &&
                           plan_.policy->IsReadFromMemory(flow_, flow_.node(id), next - 1);
      if (!outside) enter(producer);
    }
  }
  return found_;
}

}  // namespace hespas::optimise
