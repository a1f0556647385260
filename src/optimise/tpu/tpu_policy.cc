#include "optimise/tpu/tpu_policy.h"

#include <algorithm>

#include "ir/facts/ragged_dot_tiling.h"
#include "optimise/fusion/analysis.h"
#include "optimise/fusion/kernels.h"
#include "optimise/tpu/multi_output_fusion.h"
#include "optimise/tpu/rules.h"
#include "optimise/tpu/squeeze_unit_dimensions.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

bool IsScalarWork(const Dataflow& flow, const Node& node) {
  if (ir::Traits(node.kind).sort != OpSort::kElementwise || node.kind == OpKind::kConvert) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return flow.type(operand).element_count() == 1; });
}

// A ragged dot that tells its blocks is a kernel of its own.
bool IsPallasKernel(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kRaggedDot) return false;
  const std::string_view* text = flow.attribute(node, ir::kFrontendAttributes);
  return text != nullptr && ir::TellsBlocks(*text);
}

class Tpu final : public CompilerPolicy {
 public:
  bool SharesCollectives() const override { return true; }

  CombineLimits CombineLimitsOf(OpKind kind, const XlaFlags&) const override {
    if (kind != OpKind::kAllReduce) return {};
    return {tpu_rules::kAllReduceBytes, tpu_rules::kAllReduceOperands};
  }
  bool CombinesByLevel() const override { return true; }

  // Matrix units take elementwise work in with the dot, scalars run on a unit of their own, and a kernel takes the
  // larger of the padded parts of a concatenation.
  std::optional<FusionClass> SpecialClassOf(const Dataflow& flow, const Node& node) const override {
    if (IsScalarWork(flow, node) || IsPallasKernel(flow, node)) return FusionClass::kUnfusible;
    if (node.kind == OpKind::kConcatenate) return FusionClass::kCheap;
    if (SqueezesUnitDimensions(flow, node)) return FusionClass::kReduce;
    if (IsContraction(node) && node.result_count == 1) return FusionClass::kReduce;
    return std::nullopt;
  }

  bool ContinuesEpilogue(const FusionAnalysis& known, NodeId next, ValueId value, bool after_dot) const override {
    return after_dot ? ReadsMaterialized(known, next, value) : OnlyRounds(known, next);
  }

  // Read by a broadcast to more elements, or by a concatenation, which computes each part at full size (as the larger
  // of padded parts).
  std::string_view ReasonToMaterialize(const FusionAnalysis& known, const Candidate& candidate) const override {
    const OpSort sort = ir::Traits(known.flow.node(candidate.id).kind).sort;
    const int64_t elements = known.Elements(candidate.id);
    if (sort == OpSort::kLayout || sort == OpSort::kSlice || elements == 1) return {};
    const bool once = candidate.evaluations > elements || candidate.feeds_concatenate;
    return once ? "computed once, not for each element that it is broadcast to" : "";
  }

  bool WeighsRecomputation() const override { return true; }
  // Kernels have no launch overhead: memory traffic counts, and little may be recomputed.
  Duplication DecideDuplication(const FusionAnalysis& known, const Candidate& candidate) const override {
    const ValueId out = known.flow.result(candidate.id);
    const auto elements = static_cast<double>(known.Elements(candidate.id));
    if (known.instructions[out.index()] > tpu_rules::kDuplicationLimit * elements) return Duplication::kMaterialize;
    const auto k = static_cast<double>(candidate.kernels);
    const double reads = (k - 1) * known.sources[out.index()].bytes();
    const double stores = (k + 1) * static_cast<double>(known.flow.ByteSize(out));
    return reads < tpu_rules::kTie * stores ? Duplication::kDuplicate : Duplication::kMaterialize;
  }

  void FuseMultiOutput(const Dataflow& flow, const PassContext& context, KernelPlan& plan) const override {
    FuseMultiOutputOnTpu(flow, context, plan);
  }

  bool ExportsSchedule() const override { return true; }

 private:
  // Another order or a narrower type of the same values.
  static bool OnlyRounds(const FusionAnalysis& known, NodeId id) {
    const Node& node = known.flow.node(id);
    const bool converts = node.kind == OpKind::kConvert && !Widens(known.flow, node);
    return ir::Traits(node.kind).sort == OpSort::kLayout || converts;
  }

  // Beside one value only what is in memory, or vectors broadcast over it.
  static bool ReadsMaterialized(const FusionAnalysis& known, NodeId id, ValueId value) {
    const Dataflow& flow = known.flow;
    const auto& operands = flow.node(id).operands;
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) {
      if (o == value || known.IsConstantLike(o) || known.IsMaterializedSource(o)) return true;
      while (flow.producer(o).valid() && known.ClassOf(flow.producer(o)) == FusionClass::kBitcast)
        o = flow.node(flow.producer(o)).operands[0];
      return known.IsMaterializedSource(o) || IsBroadcast(flow.node(flow.producer(o)));
    });
  }
};

}  // namespace

const CompilerPolicy& TpuPolicy() {
  static const Tpu policy;
  return policy;
}

}  // namespace hespas::optimise
