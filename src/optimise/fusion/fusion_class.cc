// What an op is to fusion, and what it costs.
#include <algorithm>

#include "ir/attributes/attribute.h"
#include "optimise/dataflow/build.h"
#include "optimise/fusion/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

struct Weight {
  OpKind kind;
  double instructions;
};
constexpr Weight kWeights[] = {
    {OpKind::kExponential, 10},   {OpKind::kExponentialMinusOne, 14},
    {OpKind::kLog, 14},           {OpKind::kLogPlusOne, 16},
    {OpKind::kTanh, 25},          {OpKind::kPower, 40},
    {OpKind::kSine, 3},           {OpKind::kCosine, 3},
    {OpKind::kTan, 60},           {OpKind::kLogistic, 20},
    {OpKind::kErf, 25},           {OpKind::kDivide, 9},
    {OpKind::kSqrt, 22},          {OpKind::kRsqrt, 6},
    {OpKind::kRemainder, 12},     {OpKind::kReducePrecision, 5},
    {OpKind::kConvert, 1.5},      {OpKind::kGather, 4},
    {OpKind::kConcatenate, 2},    {OpKind::kPad, 2},
    {OpKind::kBitcast, 0},        {OpKind::kReshape, 0},
    {OpKind::kBroadcastInDim, 0}, {OpKind::kBroadcast, 0},
    {OpKind::kSlice, 0},          {OpKind::kTranspose, 0},
    {OpKind::kCopy, 0},           {OpKind::kConstant, 0},
};

bool IsSmallConstant(const Dataflow& flow, const Node& node) {
  const std::string_view* value = flow.attribute(node, "value");
  if (value == nullptr) return false;
  const auto dense = ir::AsDense(*value);
  return flow.ByteSize(node.first_result) <= 64 || (dense && dense->form == ir::DenseForm::kSplat);
}

FusionClass ClassOfLayout(const Dataflow& flow, const Node& node) {
  // A TPU takes the larger of padded parts, in each kernel that reads them.
  if (node.kind == OpKind::kConcatenate && flow.dots_take_producers) return FusionClass::kCheap;
  if (flow.dots_take_producers && SqueezesUnitDimensions(flow, node)) return FusionClass::kReduce;
  if (node.kind == OpKind::kReshape || node.kind == OpKind::kBitcast) return FusionClass::kBitcast;
  if (node.kind == OpKind::kBroadcastInDim || node.kind == OpKind::kBroadcast) {
    const Node* producer = flow.ProducerNode(node.operands[0]);
    for (int step = 0; step < 8 && producer != nullptr && producer->kind == node.kind; ++step) {
      producer = flow.ProducerNode(producer->operands[0]);
    }
    if (producer != nullptr && ir::Traits(producer->kind).sort == OpSort::kConstant &&
        ClassOf(flow, *producer) == FusionClass::kCheap) {
      return FusionClass::kCheap;
    }
  }
  return FusionClass::kElement;
}

bool IsScalarWork(const Dataflow& flow, const Node& node) {
  if (ir::Traits(node.kind).sort != OpSort::kElementwise || node.kind == OpKind::kConvert) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return flow.type(operand).element_count() == 1; });
}

}  // namespace

double InstructionWeight(OpKind kind) {
  for (const Weight& weight : kWeights) {
    if (weight.kind == kind) return weight.instructions;
  }
  return 1;
}

int64_t WorkElements(const Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  const bool reduces = ir::Traits(node.kind).sort == OpSort::kReduction && !node.operands.empty();
  return flow.type(reduces ? node.operands[0] : node.first_result).element_count();
}

bool ReducesRows(const Dataflow& flow, const Node& node) {
  const auto reduced = IntegersOf(flow, node, "dimensions");
  const Dimensions& dims = flow.type(node.operands[0]).dims;
  if (!reduced) return false;
  int64_t last = static_cast<int64_t>(dims.size()) - 1;
  while (last >= 0 && dims[static_cast<size_t>(last)] == 1) --last;
  return last < 0 || std::find(reduced->begin(), reduced->end(), last) != reduced->end();
}

bool IsReadFromMemory(const Dataflow& flow, const Node& node, size_t operand) {
  if (node.kind != OpKind::kScatter || node.own_operand_count() != 3 || flow.dots_take_producers) return false;
  const Node* indices = flow.ProducerNode(node.operands[1]);
  return operand == 0 || (operand == 1 && indices != nullptr && indices->kind == OpKind::kConcatenate);
}

FusionClass ClassOf(const Dataflow& flow, const Node& node) {
  if (!node.bodies.empty() || node.result_count == 0) return FusionClass::kUnfusible;
  if (flow.dots_take_producers && IsScalarWork(flow, node)) return FusionClass::kUnfusible;
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kElementwise:
    case OpSort::kSlice:
    case OpSort::kGather:
      return node.result_count == 1 ? FusionClass::kElement : FusionClass::kUnfusible;
    case OpSort::kLayout:
      return ClassOfLayout(flow, node);
    case OpSort::kConstant:
      return node.kind != OpKind::kConstant || IsSmallConstant(flow, node) ? FusionClass::kCheap
                                                                           : FusionClass::kUnfusible;
    case OpSort::kReduction:
      return node.kind == OpKind::kSelectAndScatter ? FusionClass::kUnfusible : FusionClass::kReduce;
    case OpSort::kContraction:
      return flow.dots_take_producers && node.result_count == 1 ? FusionClass::kReduce : FusionClass::kUnfusible;
    case OpSort::kScatter:
      return FusionClass::kReduce;
    default:
      return FusionClass::kUnfusible;
  }
}

}  // namespace hespas::optimise
