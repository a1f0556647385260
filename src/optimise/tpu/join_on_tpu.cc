#include <algorithm>

#include "optimise/fusion/kernel_graph.h"

namespace hespas::optimise {
namespace {

constexpr double kFollowLimit = 25;  // instructions an element that may follow a dot in its kernel

class TpuJoiner : public KernelGraph {
 public:
  using KernelGraph::KernelGraph;

  // Reductions of rows join the dots that they read before those of columns do, with which they cannot share a kernel;
  // what was in the way of a reader may be in the same kernel in the end.
  void Run() {
    JoinWithReaders(true);
    JoinWithReaders(false);
    JoinSiblings();
    JoinWithReaders(false);
    DropInnerRoots();
  }

 private:
  // A stored result with a reader of the same size: the reader can store it along the way.
  void JoinWithReaders(bool reducing_rows) {
    for (const NodeId id : flow_.order()) {
      if (!plan_.stored[id.index()]) continue;
      uint32_t reader = plan_.kernel[id.index()];
      if (reducing_rows && !kernels_[reader].rows) continue;
      for (const WireId wire : std::vector<WireId>(kernels_[reader].inputs)) {
        reader = Now(reader);
        const uint32_t writer = KernelOf(wire);
        if (writer == KernelPlan::kNone || !IsElementwise(flow_.maker(wire)) || writer == reader) continue;
        if (!kernels_[reader].dot_inputs.contains(wire)) TryJoin(writer, reader);
      }
    }
  }

  void JoinSiblings() {
    for (auto& [wire, readers] : SharedValues()) {
      SortReaders(readers);
      std::reverse(readers.begin(), readers.end());
      for (size_t i = 0; i + 1 < readers.size(); ++i) {
        for (size_t j = i + 1; j < std::min(readers.size(), i + kSiblings); ++j)
          TryJoin(Now(readers[i]), Now(readers[j]));
      }
    }
  }

  void TryJoin(uint32_t a, uint32_t b) {
    if (MayJoin(a, b) && !(kernels_[a].dots && kernels_[b].dots) && Agree(a, b)) Join(a, b);
  }

  // A kernel reduces rows or columns, rows only where it holds a dot or nothing else; a dot goes on with little work.
  bool Agree(uint32_t a, uint32_t b) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    if ((x.rows && y.columns > 0) || (y.rows && x.columns > 0)) return false;
    if (!x.dots && !y.dots) return x.rows == y.rows;
    return (x.dots ? y : x).instructions <= kFollowLimit * static_cast<double>(x.elements);
  }
};

}  // namespace

void JoinOnTpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan) {
  TpuJoiner(flow, context, plan).Run();
}

}  // namespace hespas::optimise
