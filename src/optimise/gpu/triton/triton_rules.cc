#include "optimise/gpu/triton/triton_rules.h"

#include <algorithm>
#include <span>

#include "optimise/fusion/kernels.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::ElementKind;
using ir::OpKind;
using ir::OpSort;

constexpr OpKind kOfAnyType[] = {OpKind::kConvert,  OpKind::kAbs,      OpKind::kNegate,  OpKind::kAdd,
                                 OpKind::kSubtract, OpKind::kMultiply, OpKind::kMaximum, OpKind::kMinimum,
                                 OpKind::kCompare,  OpKind::kSelect,   OpKind::kAnd,     OpKind::kOr,
                                 OpKind::kXor,      OpKind::kNot};
constexpr OpKind kOfFloats[] = {OpKind::kCosine, OpKind::kSine, OpKind::kTan,         OpKind::kTanh,
                                OpKind::kFloor,  OpKind::kCeil, OpKind::kExponential, OpKind::kExponentialMinusOne,
                                OpKind::kLog,    OpKind::kSqrt, OpKind::kLogPlusOne,  OpKind::kRsqrt,
                                OpKind::kCbrt,   OpKind::kErf,  OpKind::kDivide,      OpKind::kPower,
                                OpKind::kAtan2};
// Of a sum the same comes out as the sum of what comes out.
constexpr OpKind kLinear[] = {OpKind::kMultiply, OpKind::kNegate, OpKind::kReshape, OpKind::kTranspose,
                              OpKind::kConvert};

bool IsIn(std::span<const OpKind> list, OpKind kind) { return std::find(list.begin(), list.end(), kind) != list.end(); }

bool IsSized(const ir::Type& type) {
  const int64_t count = type.has_static_shape() ? type.element_count() : 0;
  return type.is_tensor() && count > 0 && count <= gpu_rules::kMostElements;
}

bool IsHalfOrSingle(const ir::Type& type) {
  const ElementKind kind = type.element.kind;
  return !type.element.complex &&
         (kind == ElementKind::kF32 || kind == ElementKind::kF16 || kind == ElementKind::kBF16);
}

bool BroadcastsInDim(const Node* node) { return node != nullptr && node->kind == OpKind::kBroadcastInDim; }

}  // namespace

bool IsTritonElementwise(const Dataflow& flow, const Node& node) {
  const auto& element = flow.type(node.operands[0]).element;
  if (!flow.type(node.first_result).has_static_shape() || element.complex ||
      (ir::ElementBits(element) < 8 && ir::ElementBits(element) != 1))
    return false;
  if (IsIn(kOfAnyType, node.kind) || node.kind == OpKind::kClamp || node.kind == OpKind::kDivide) return true;
  const bool is_float = IsHalfOrSingle(flow.type(node.operands[0])) || element.kind == ElementKind::kF64;
  return is_float &&
         (IsIn(kOfFloats, node.kind) || node.kind == OpKind::kRemainder || node.kind == OpKind::kReducePrecision);
}

TritonRules::TritonRules(const Dataflow& flow)
    : flow_(flow),
      users_(flow.Users()),
      returned_(flow.outputs.begin(), flow.outputs.end()),
      concatenated_(flow.value_count(), 0) {
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    if (node.kind != OpKind::kConcatenate && node.kind != OpKind::kDynamicSlice) continue;
    for (const ValueId operand : node.operands) concatenated_[operand.index()] = 1;
  }
}

// support_legacy.cc: 8-bit integers are summed in 32 bits.
bool TritonRules::IsMatmul(const Node& dot) const {
  const auto is_integer = [&](ValueId value, int bits) {
    const ir::Element& element = flow_.type(value).element;
    return IsSized(flow_.type(value)) && element.kind == ElementKind::kInteger && element.bits == bits;
  };
  const auto is_float = [&](ValueId value) { return IsSized(flow_.type(value)) && IsHalfOrSingle(flow_.type(value)); };
  if (dot.operands.size() != 2) return false;
  if (is_integer(dot.operands[0], 8) && is_integer(dot.operands[1], 8))
    return is_integer(dot.first_result, 32) || is_float(dot.first_result);
  return is_float(dot.operands[0]) && is_float(dot.operands[1]) && is_float(dot.first_result);
}

bool TritonRules::IsComputed(const Node& node) const {
  if (node.result_count != 1 || !node.bodies.empty() || !IsSized(flow_.type(node.first_result))) return false;
  const auto& dims = flow_.type(node.first_result).dims;
  const bool elementwise = ir::Traits(node.kind).sort == OpSort::kElementwise;
  for (const ValueId operand : node.operands) {
    if (!IsSized(flow_.type(operand)) || (elementwise && flow_.type(operand).dims != dims)) return false;
  }
  if (!elementwise || IsIn(kOfAnyType, node.kind)) return true;
  return IsIn(kOfFloats, node.kind) && IsHalfOrSingle(flow_.type(node.operands[0]));
}

bool TritonRules::IsSplat(ValueId value) const {
  const Node* producer = flow_.ProducerNode(value);
  return producer != nullptr && producer->kind == OpKind::kConstant && IsInlineConstant(flow_, *producer);
}

bool TritonRules::PaysBefore(const Node& node) const {
  if (ReadsBroadcast(node) || ReadMinusWritten(node) <= gpu_rules::kIoTolerance) return true;
  if (UsesOf(node.first_result) > 1) return false;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
    return IsGiven(operand) && (node.kind == OpKind::kSlice || UsesOf(operand) == 1);
  });
}

bool TritonRules::PaysBehind(const Node& node, ValueId value) const {
  if (!IsIn(kLinear, node.kind) || std::count(node.operands.begin(), node.operands.end(), value) != 1) return false;
  for (const ValueId operand : node.operands) {
    if (operand == value || IsSplat(operand) || !flow_.producer(operand).valid()) continue;
    const Node* producer = flow_.ProducerNode(operand);
    if (!BroadcastsInDim(producer)) return false;
    if (!IsGiven(producer->operands[0]) && flow_.type(producer->operands[0]).element_count() != 1) return false;
  }
  return ReadMinusWritten(node) >= -gpu_rules::kIoTolerance || IsReturned(node.first_result);
}

NodeId TritonRules::OnlyConsumer(ValueId value) const {
  return UsesOf(value) == 1 && !IsReturned(value) ? users_[value.index()][0] : NodeId();
}

// Of two values the one is a number or a parameter of the program, broadcast; not where a bitcast stands between, as
// for XLA after dimensions of size 1.
bool TritonRules::ReadsBroadcast(const Node& node) const {
  if (node.operands.size() != 2 || ir::Traits(node.kind).sort != OpSort::kElementwise) return false;
  return std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
    const Node* producer = flow_.ProducerNode(operand);
    return IsSplat(operand) ||
           (BroadcastsInDim(producer) && IsGiven(producer->operands[0]) && IsDense(producer->operands[0]));
  });
}

bool TritonRules::IsGiven(ValueId value) const {
  const Node* producer = flow_.ProducerNode(value);
  return producer == nullptr || producer->kind == OpKind::kConstant;
}

bool TritonRules::IsDense(ValueId value) const {
  const auto& dims = flow_.type(value).dims;
  return std::find(dims.begin(), dims.end(), 1) == dims.end();
}

int64_t TritonRules::ReadMinusWritten(const Node& node) const {
  int64_t bytes = -flow_.ByteSize(node.first_result);
  for (const ValueId operand : node.operands) bytes += IsSplat(operand) ? 0 : flow_.ByteSize(operand);
  return bytes;
}

}  // namespace hespas::optimise
