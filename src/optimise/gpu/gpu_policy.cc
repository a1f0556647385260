#include "optimise/gpu/gpu_policy.h"

#include <algorithm>

#include "optimise/dataflow/build.h"
#include "optimise/fusion/analysis.h"
#include "optimise/fusion/kernels.h"
#include "optimise/gpu/loop_reductions.h"
#include "optimise/gpu/multi_output_fusion.h"
#include "optimise/gpu/priority_fusion.h"
#include "optimise/gpu/rules.h"
#include "optimise/gpu/tiled_transpose.h"
#include "optimise/gpu/triton/row_diamonds.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Gpu final : public CompilerPolicy {
 public:
  CombineLimits CombineLimitsOf(OpKind kind, const XlaFlags& flags) const override {
    switch (kind) {
      case OpKind::kAllGather:
        return {flags.all_gather, gpu_rules::kCombinedOperands};
      case OpKind::kReduceScatter:
        return {flags.reduce_scatter, gpu_rules::kCombinedOperands};
      case OpKind::kAllReduce:
        return {flags.all_reduce, gpu_rules::kCombinedOperands};
      default:
        return {};
    }
  }
  bool AbsorbsTransposes() const override { return false; }
  bool FlattensAllReduces() const override { return true; }

  // What a scatter changes in place, and indices that were put side by side, lie in memory before.
  bool IsReadFromMemory(const Dataflow& flow, const Node& node, size_t operand) const override {
    if (node.kind != OpKind::kScatter || node.own_operand_count() != 3) return false;
    const Node* indices = flow.ProducerNode(node.operands[1]);
    return operand == 0 || (operand == 1 && indices != nullptr && indices->kind == OpKind::kConcatenate);
  }

  bool ContinuesEpilogue(const FusionAnalysis& known, NodeId next, ValueId, bool) const override {
    return known.flow.node(next).kind != OpKind::kTranspose;
  }

  std::vector<RowRole> RowsOf(const Dataflow& flow, bool is_main) const override {
    return FindRowDiamonds(flow, is_main);
  }
  bool JoinsRows(const Dataflow& flow, const Node& node) const override { return IsTiledByTriton(flow, node); }

  // A reduction of so few results that its thread blocks cannot ask for all the memory's bandwidth.
  bool IsSlowConsumer(const FusionAnalysis& known, NodeId root) const override {
    return known.epilogue[root.index()] == Epilogue::kEnd;
  }

  bool FusesIntoAllOrNone() const override { return true; }
  bool ReadsAcross(const Dataflow& flow, const Node& node) const override { return optimise::ReadsAcross(flow, node); }
  Duplication DecideDuplication(const FusionAnalysis&, const Candidate&) const override { return Duplication::kDefer; }
  std::vector<char> DecideDeferred(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                                   std::span<const NodeId> deferred) const override {
    return FuseByPriority(flow, context, plan, deferred);
  }

  bool HasTiledEmitters() const override { return true; }
  std::optional<TiledTranspose> HeroTransposeOf(const Dataflow& flow, NodeId root,
                                                const std::function<bool(ValueId)>& is_inside) const override {
    TiledTransposes known(flow);
    const TiledTranspose* hero = known.Hero(root, is_inside);
    return hero != nullptr ? std::optional(*hero) : std::nullopt;
  }
  bool ReducesInLoop(const Dataflow& flow, const Node& node) const override {
    return optimise::ReducesInLoop(flow, node);
  }
  int64_t SharedMemoryOfReduction(bool rows, int64_t element_bytes) const override {
    return (rows ? gpu_rules::kRowTile : gpu_rules::kColumnTile) * element_bytes;
  }
  void FuseMultiOutput(const Dataflow& flow, const PassContext& context, KernelPlan& plan) const override {
    FuseMultiOutputOnGpu(flow, context, plan);
  }

  bool HidesLatency() const override { return true; }
};

}  // namespace

const CompilerPolicy& GpuPolicy() {
  static const Gpu policy;
  return policy;
}

}  // namespace hespas::optimise
