#include "optimise/cpu/cpu_rules.h"

#include <algorithm>

#include "ir/attributes/integer.h"
#include "optimise/dataflow/build.h"
#include "optimise/fusion/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

bool IsConstant(const Dataflow& flow, ValueId value) {
  const Node* producer = flow.ProducerNode(value);
  while (producer != nullptr && (producer->kind == OpKind::kBroadcastInDim || producer->kind == OpKind::kConvert))
    producer = flow.ProducerNode(producer->operands[0]);
  return producer != nullptr && producer->kind == OpKind::kConstant;
}

bool IsSplat(const Dataflow& flow, ValueId value) {
  const Node* producer = flow.ProducerNode(value);
  return producer != nullptr && (producer->kind == OpKind::kBroadcastInDim || producer->kind == OpKind::kBroadcast ||
                                 producer->kind == OpKind::kIota ||
                                 (producer->kind == OpKind::kConstant && IsInlineConstant(flow, *producer)));
}

}  // namespace

bool IsLoopOp(const Node& node) {
  if (node.result_count != 1 || !node.bodies.empty()) return false;
  switch (node.kind) {
    case OpKind::kMap:
      return false;
    case OpKind::kReduce:
      return node.own_operand_count() == 2;
    default:
      break;
  }
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kElementwise:
    case OpSort::kConstant:
    case OpSort::kLayout:
    case OpSort::kSlice:
    case OpSort::kGather:
      return true;
    default:
      return false;
  }
}

bool IsLoopRoot(const Node& node) { return IsLoopOp(node) || (node.kind == OpKind::kReduce && node.result_count > 1); }

bool IsOverwritten(const Node& node, const Node& consumer) {
  if (consumer.kind != OpKind::kDynamicUpdateSlice || ir::Traits(node.kind).sort == OpSort::kElementwise) return false;
  return std::find(node.operands.begin(), node.operands.end(), consumer.operands[0]) != node.operands.end();
}

bool IsExpensive(const Dataflow& flow, const Node& node) {
  const bool complex = flow.type(node.first_result).element.complex;
  switch (node.kind) {
    case OpKind::kAbs:
    case OpKind::kCosine:
    case OpKind::kSine:
    case OpKind::kTan:
      return complex;
    // By a constant without a division.
    case OpKind::kDivide:
      return !IsConstant(flow, node.operands[1]);
    case OpKind::kRemainder:
      return !ir::IsInteger(flow.type(node.first_result).element) || !IsConstant(flow, node.operands[1]);
    case OpKind::kAtan2:
    case OpKind::kCbrt:
    case OpKind::kChloElementwise:
    case OpKind::kErf:
    case OpKind::kExponential:
    case OpKind::kExponentialMinusOne:
    case OpKind::kLog:
    case OpKind::kLogPlusOne:
    case OpKind::kLogistic:
    case OpKind::kPower:
    case OpKind::kReduce:
    case OpKind::kRsqrt:
    case OpKind::kSqrt:
    case OpKind::kTanh:
      return true;
    default:
      return !IsLoopOp(node);
  }
}

bool ReusesElements(const Dataflow& flow, const Node& node, size_t operand) {
  switch (node.kind) {
    case OpKind::kBroadcast:
    case OpKind::kBroadcastInDim:
      return flow.type(node.first_result).element_count() != flow.type(node.operands[operand]).element_count();
    case OpKind::kGather:
      return true;
    case OpKind::kDynamicSlice:
    case OpKind::kPad:
    case OpKind::kReduce:
      return operand > 0;
    case OpKind::kDynamicUpdateSlice:
      return operand > 1;
    default:
      return !IsLoopOp(node);
  }
}

bool ChangesIndex(const Dataflow& flow, const Node& node, size_t operand) {
  return node.kind != OpKind::kTranspose && flow.type(node.first_result).dims != flow.type(node.operands[operand]).dims;
}

bool IsOuterReduction(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kReduce) return false;
  const auto reduced = IntegersOf(flow, node, "dimensions");
  const auto last = static_cast<int64_t>(flow.type(node.operands[0]).dims.size()) - 1;
  return reduced && std::find(reduced->begin(), reduced->end(), last) == reduced->end();
}

bool ReadsOneArray(const Dataflow& flow, const Node& node) {
  const size_t rank = flow.type(node.first_result).dims.size();
  return std::count_if(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
           return !IsSplat(flow, operand) && flow.type(operand).dims.size() >= rank;
         }) <= 1;
}

}  // namespace hespas::optimise
