#include "optimise/gpu/triton_rules.h"

#include <algorithm>
#include <span>

#include "optimise/fusion/kernels.h"

namespace hespas::optimise {
namespace {

using ir::ElementKind;
using ir::OpKind;
using ir::OpSort;

constexpr int64_t kTolerance = 1024;                 // bytes that a kernel may read more
constexpr int64_t kMostElements = int64_t{1} << 48;  // of a value: sizes and sums of them stay exact

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
  return type.is_tensor() && count > 0 && count <= kMostElements;
}

bool IsHalfOrSingle(const ir::Type& type) {
  const ElementKind kind = type.element.kind;
  return !type.element.complex &&
         (kind == ElementKind::kF32 || kind == ElementKind::kF16 || kind == ElementKind::kBF16);
}

bool IsBroadcast(const Node* node) { return node != nullptr && node->kind == OpKind::kBroadcastInDim; }

}  // namespace

TritonRules::TritonRules(const Dataflow& flow)
    : flow_(flow),
      users_(flow.Users()),
      returned_(flow.outputs.begin(), flow.outputs.end()),
      joined_(flow.wire_count(), 0) {
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    if (node.kind != OpKind::kConcatenate && node.kind != OpKind::kDynamicSlice) continue;
    for (const WireId operand : node.operands) joined_[operand.index()] = 1;
  }
}

bool TritonRules::IsFactor(WireId wire) const { return IsSized(flow_.type(wire)) && IsHalfOrSingle(flow_.type(wire)); }

bool TritonRules::IsComputed(const Node& node) const {
  if (node.result_count != 1 || !node.bodies.empty() || !IsSized(flow_.type(node.first_result))) return false;
  const auto& dims = flow_.type(node.first_result).dims;
  const bool elementwise = ir::Traits(node.kind).sort == OpSort::kElementwise;
  for (const WireId operand : node.operands) {
    if (!IsSized(flow_.type(operand)) || (elementwise && flow_.type(operand).dims != dims)) return false;
  }
  if (!elementwise || IsIn(kOfAnyType, node.kind)) return true;
  return IsIn(kOfFloats, node.kind) && IsHalfOrSingle(flow_.type(node.operands[0]));
}

bool TritonRules::IsSplat(WireId wire) const {
  const Node* maker = flow_.MakerNode(wire);
  return maker != nullptr && maker->kind == OpKind::kConstant && ClassOf(flow_, *maker) == FusionClass::kCheap;
}

bool TritonRules::PaysBefore(const Node& node) const {
  if (ReadsSpread(node) || ReadMinusWritten(node) <= kTolerance) return true;
  if (UsesOf(node.first_result) > 1) return false;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](WireId operand) {
    return IsGiven(operand) && (node.kind == OpKind::kSlice || UsesOf(operand) == 1);
  });
}

bool TritonRules::PaysBehind(const Node& node, WireId wire) const {
  if (!IsIn(kLinear, node.kind) || std::count(node.operands.begin(), node.operands.end(), wire) != 1) return false;
  for (const WireId operand : node.operands) {
    if (operand == wire || IsSplat(operand) || !flow_.maker(operand).valid()) continue;
    const Node* maker = flow_.MakerNode(operand);
    if (!IsBroadcast(maker)) return false;
    if (!IsGiven(maker->operands[0]) && flow_.type(maker->operands[0]).element_count() != 1) return false;
  }
  return ReadMinusWritten(node) >= -kTolerance || IsReturned(node.first_result);
}

NodeId TritonRules::OnlyReader(WireId wire) const {
  return UsesOf(wire) == 1 && !IsReturned(wire) ? users_[wire.index()][0] : NodeId();
}

// Of two values the one is a number or a parameter of the program, spread; not where a view stands between, as for
// XLA behind dimensions of size 1.
bool TritonRules::ReadsSpread(const Node& node) const {
  if (node.operands.size() != 2 || ir::Traits(node.kind).sort != OpSort::kElementwise) return false;
  return std::any_of(node.operands.begin(), node.operands.end(), [&](WireId operand) {
    const Node* maker = flow_.MakerNode(operand);
    return IsSplat(operand) || (IsBroadcast(maker) && IsGiven(maker->operands[0]) && IsDense(maker->operands[0]));
  });
}

bool TritonRules::IsGiven(WireId wire) const {
  const Node* maker = flow_.MakerNode(wire);
  return maker == nullptr || maker->kind == OpKind::kConstant;
}

bool TritonRules::IsDense(WireId wire) const {
  const auto& dims = flow_.type(wire).dims;
  return std::find(dims.begin(), dims.end(), 1) == dims.end();
}

int64_t TritonRules::ReadMinusWritten(const Node& node) const {
  int64_t bytes = -flow_.ByteSize(node.first_result);
  for (const WireId operand : node.operands) bytes += IsSplat(operand) ? 0 : flow_.ByteSize(operand);
  return bytes;
}

}  // namespace hespas::optimise
