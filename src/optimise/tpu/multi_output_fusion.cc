#include "optimise/tpu/multi_output_fusion.h"

#include <algorithm>

#include "optimise/fusion/kernel_graph.h"
#include "optimise/fusion/rules.h"
#include "optimise/tpu/rules.h"

namespace hespas::optimise {
namespace {

class TpuMultiOutputFusion : public KernelGraph {
 public:
  using KernelGraph::KernelGraph;

  // Reductions of rows fuse with the dots that they read before those of columns do, with which they cannot share a
  // kernel; what was in the way of a consumer may be in the same kernel in the end.
  void Run() {
    FuseProducerConsumer(true);
    FuseProducerConsumer(false);
    FuseSiblings();
    FuseProducerConsumer(false);
    DropInnerRoots();
  }

 private:
  // A materialized result with a consumer of the same size: the consumer can store it along the way.
  void FuseProducerConsumer(bool reducing_rows) {
    for (const NodeId id : flow_.order()) {
      if (!plan_.materialized[id.index()]) continue;
      uint32_t consumer = plan_.kernel[id.index()];
      if (reducing_rows && !kernels_[consumer].rows) continue;
      for (const ValueId value : std::vector<ValueId>(kernels_[consumer].inputs)) {
        consumer = Now(consumer);
        const uint32_t writer = KernelOf(value);
        if (writer == KernelPlan::kNone || !IsElementwise(flow_.producer(value)) || writer == consumer) continue;
        if (!kernels_[consumer].dot_inputs.contains(value)) TryFuse(writer, consumer);
      }
    }
  }

  void FuseSiblings() {
    for (auto& [value, consumers] : SharedValues()) {
      SortConsumers(consumers);
      std::reverse(consumers.begin(), consumers.end());
      for (size_t i = 0; i + 1 < consumers.size(); ++i) {
        for (size_t j = i + 1; j < std::min(consumers.size(), i + fusion_rules::kSiblings); ++j)
          TryFuse(Now(consumers[i]), Now(consumers[j]));
      }
    }
  }

  void TryFuse(uint32_t a, uint32_t b) {
    if (MayFuse(a, b) && !(kernels_[a].dots && kernels_[b].dots) && Agree(a, b)) TryMerge(a, b);
  }

  // A kernel reduces rows or columns, rows only where it holds a dot or nothing else; a dot goes on with little work.
  bool Agree(uint32_t a, uint32_t b) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    if ((x.rows && y.columns > 0) || (y.rows && x.columns > 0)) return false;
    if (!x.dots && !y.dots) return x.rows == y.rows;
    return (x.dots ? y : x).instructions <= tpu_rules::kFollowLimit * static_cast<double>(x.elements);
  }
};

}  // namespace

void FuseMultiOutputOnTpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan) {
  TpuMultiOutputFusion(flow, context, plan).Run();
}

}  // namespace hespas::optimise
