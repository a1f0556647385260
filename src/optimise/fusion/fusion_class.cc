#include "optimise/fusion/fusion_class.h"

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/facts/op_weights.h"
#include "ir/facts/row_reduction.h"
#include "optimise/dataflow/build.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

bool IsSmallConstant(const Dataflow& flow, const Node& node) {
  const std::string_view* value = flow.attribute(node, "value");
  if (value == nullptr) return false;
  const auto dense = ir::AsDense(*value);
  return flow.ByteSize(node.first_result) <= 64 || (dense && dense->form == ir::DenseForm::kSplat);
}

FusionClass ClassOfLayout(const Dataflow& flow, const Node& node) {
  if (node.kind == OpKind::kReshape || node.kind == OpKind::kBitcast) return FusionClass::kBitcast;
  if (IsBroadcast(node)) {
    const Node* producer = flow.ProducerNode(node.operands[0]);
    for (int step = 0; step < 8 && producer != nullptr && producer->kind == node.kind; ++step) {
      producer = flow.ProducerNode(producer->operands[0]);
    }
    if (producer != nullptr && IsInlineConstant(flow, *producer)) return FusionClass::kCheap;
  }
  return FusionClass::kElement;
}

}  // namespace

double InstructionWeight(OpKind kind) {
  const ir::OpWeight* known = ir::WeightOf(kind);
  return known != nullptr && known->fusion ? *known->fusion : 1;
}

int64_t WorkElements(const Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  const bool reduces = ir::Traits(node.kind).sort == OpSort::kReduction && !node.operands.empty();
  return flow.type(reduces ? node.operands[0] : node.first_result).element_count();
}

bool ReducesRows(const Dataflow& flow, const Node& node) {
  const auto reduced = IntegersOf(flow, node, "dimensions");
  return reduced && ir::ReducesRows(flow.type(node.operands[0]).dims, *reduced);
}

bool IsBroadcast(const Node& node) { return node.kind == OpKind::kBroadcastInDim || node.kind == OpKind::kBroadcast; }

bool IsContraction(const Node& node) { return ir::Traits(node.kind).sort == OpSort::kContraction; }

bool Widens(const Dataflow& flow, const Node& node) {
  return node.kind == OpKind::kConvert && flow.ByteSize(node.first_result) > flow.ByteSize(node.operands[0]);
}

bool IsInlineConstant(const Dataflow& flow, const Node& node) {
  return ir::Traits(node.kind).sort == OpSort::kConstant && node.bodies.empty() && node.result_count > 0 &&
         (node.kind != OpKind::kConstant || IsSmallConstant(flow, node));
}

FusionClass ClassOf(const Dataflow& flow, const Node& node, const CompilerPolicy& policy) {
  if (!node.bodies.empty() || node.result_count == 0) return FusionClass::kUnfusible;
  if (const auto special = policy.SpecialClassOf(flow, node)) return *special;
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kElementwise:
    case OpSort::kSlice:
    case OpSort::kGather:
      return node.result_count == 1 ? FusionClass::kElement : FusionClass::kUnfusible;
    case OpSort::kLayout:
      return ClassOfLayout(flow, node);
    case OpSort::kConstant:
      return IsInlineConstant(flow, node) ? FusionClass::kCheap : FusionClass::kUnfusible;
    case OpSort::kReduction:
      return node.kind == OpKind::kSelectAndScatter ? FusionClass::kUnfusible : FusionClass::kReduce;
    case OpSort::kScatter:
      return FusionClass::kReduce;
    default:
      return FusionClass::kUnfusible;
  }
}

}  // namespace hespas::optimise
