#include "optimise/gpu/layout/layout_rules.h"

#include <algorithm>

#include "base/units.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// A reduction asks for rows where a warp's threads share one, or several rows fit a warp
// (PropagateReductionLayoutToOperand, IsUnnestedReductionFasterThanElemental in reduction_utils.cc).
bool AreRowsWorthwhile(int64_t length) {
  constexpr int64_t kWarp = 32;
  return length >= kWarp || (length > 0 && kWarp % length == 0);
}

bool HasDynamicType(const Dataflow& flow, const Node& node) {
  const auto is_dynamic = [&](ValueId value) {
    return flow.type(value).kind != ir::TypeKind::kTensor || !flow.type(value).has_static_shape();
  };
  if (std::any_of(node.operands.begin(), node.operands.end(), is_dynamic)) return true;
  for (uint32_t r = 0; r < node.result_count; ++r) {
    if (is_dynamic(ValueId(node.first_result.index() + r))) return true;
  }
  return false;
}

bool AreOperandsLikeResult(const Dataflow& flow, const Node& node) {
  const Dimensions& dims = flow.type(node.first_result).dims;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
    return flow.type(operand).dims == dims || flow.type(operand).dims.empty();
  });
}

// A broadcast that repeats nothing.
bool IsReshape(const Dataflow& flow, const Node& node) {
  if (node.kind == OpKind::kReshape) return true;
  if (node.kind != OpKind::kBroadcastInDim) return false;
  const auto places = IntegersOf(flow, node, "broadcast_dimensions");
  return places && std::is_sorted(places->begin(), places->end()) &&
         flow.type(node.operands[0]).element_count() == flow.type(node.first_result).element_count();
}

std::optional<Layout> ThroughReshape(const Dimensions& from, const Layout& layout, const Dimensions& to) {
  const auto has_unit = [](const Dimensions& dims) { return std::find(dims.begin(), dims.end(), 1) != dims.end(); };
  if (layout.IsDefault() && from.size() > 1 && to.size() > 1 && !has_unit(from) && !has_unit(to))
    return Layout::Default(to.size());
  // Vectors have no layout to pass on.
  if (WithoutUnits(from).size() == 1 && WithoutUnits(to).size() == 1) return std::nullopt;
  return Align(from, layout, to);
}

// What is reduced lies innermost.
std::optional<Layout> RowsOf(const Dataflow& flow, const Node& node, const Layout& layout) {
  const auto reduced = IntegersOf(flow, node, "dimensions");
  const Dimensions& dims = flow.type(node.operands[0]).dims;
  if (!reduced || dims.size() <= 1 || dims.size() != layout.rank() + reduced->size()) return std::nullopt;
  int64_t elements = 1;
  for (const int64_t d : *reduced) elements = internal::SaturatingMultiply(elements, dims[static_cast<size_t>(d)]);
  if (!AreRowsWorthwhile(elements)) return std::nullopt;
  const Dimensions kept = FreeDimensions(dims.size(), {}, *reduced);
  Layout rows;
  for (size_t i = 0; i < layout.rank(); ++i) rows.Append(static_cast<size_t>(kept[layout[i]]));
  for (const int64_t d : *reduced) rows.Append(static_cast<size_t>(d));
  return rows;
}

}  // namespace

LayoutRule LayoutRuleOf(const Dataflow& flow, const Node& node) {
  if (node.capture_count != 0 || !node.bodies.empty() || HasDynamicType(flow, node)) return LayoutRule::kFixed;
  if (node.kind == OpKind::kOptimizationBarrier)
    return node.operands.size() == node.result_count ? LayoutRule::kAlias : LayoutRule::kFixed;
  if (node.result_count != 1) return LayoutRule::kFixed;
  switch (node.kind) {
    case OpKind::kConcatenate:
    case OpKind::kSlice:
    case OpKind::kPad:
    case OpKind::kReverse:
    case OpKind::kDynamicSlice:
    case OpKind::kDynamicUpdateSlice:
      return LayoutRule::kSame;
    case OpKind::kReduceWindow:
      return node.operands.size() == 2 ? LayoutRule::kSame : LayoutRule::kFixed;
    case OpKind::kReduce:
      return node.operands.size() == 2 ? LayoutRule::kFree : LayoutRule::kFixed;
    case OpKind::kAllReduce:
    case OpKind::kCollectivePermute:
      return node.operands.size() == 1 ? LayoutRule::kSame : LayoutRule::kFixed;
    case OpKind::kBroadcastInDim:
    case OpKind::kReshape:
    case OpKind::kTranspose:
    case OpKind::kIota:
    case OpKind::kConstant:
    case OpKind::kDotGeneral:
    case OpKind::kGather:
    case OpKind::kScatter:
      return LayoutRule::kFree;
    default:
      return ir::Traits(node.kind).sort == ir::OpSort::kElementwise && AreOperandsLikeResult(flow, node)
                 ? LayoutRule::kSame
                 : LayoutRule::kFixed;
  }
}

std::optional<Layout> OperandFromResult(const Dataflow& flow, const Node& node, const Layout& layout) {
  if (IsReshape(flow, node))
    return ThroughReshape(flow.type(node.first_result).dims, layout, flow.type(node.operands[0]).dims);
  if (node.kind == OpKind::kBroadcastInDim) {
    const auto places = IntegersOf(flow, node, "broadcast_dimensions");
    return places ? std::optional(Filtered(layout, *places)) : std::nullopt;
  }
  if (node.kind == OpKind::kReduce) return RowsOf(flow, node, layout);
  if (node.kind != OpKind::kTranspose) return std::nullopt;
  const auto permutation = IntegersOf(flow, node, "permutation");
  if (!permutation) return std::nullopt;
  Layout before;
  for (size_t i = 0; i < layout.rank(); ++i) before.Append(static_cast<size_t>((*permutation)[layout[i]]));
  return before;
}

std::optional<Layout> ResultFromOperand(const Dataflow& flow, const Node& node, const Layout& layout) {
  if (IsReshape(flow, node))
    return ThroughReshape(flow.type(node.operands[0]).dims, layout, flow.type(node.first_result).dims);
  return node.kind == OpKind::kTranspose ? ThroughTranspose(flow, node, layout) : std::nullopt;
}

std::optional<Layout> ThroughTranspose(const Dataflow& flow, const Node& node, const Layout& layout) {
  const auto permutation = IntegersOf(flow, node, "permutation");
  return permutation ? std::optional(Filtered(layout, *permutation)) : std::nullopt;
}

bool DotCanLeave(const Dataflow& flow, const Node& dot, size_t batch, const Layout& layout) {
  const size_t rank = flow.type(dot.first_result).dims.size();
  const size_t rows = flow.type(dot.operands[0]).dims.size() - batch - 1;
  Dimensions roles[3];
  for (size_t i = 0; i < rank; ++i) roles[i < batch ? 0 : i < batch + rows ? 1 : 2].push_back(static_cast<int64_t>(i));
  return IsMatrix(layout, roles[0], roles[1], roles[2]);
}

bool IsFollowedAtOnce(const Dataflow& flow, const Node& node) {
  if (node.kind == OpKind::kTranspose || node.kind == OpKind::kGather || node.kind == OpKind::kScatter) return true;
  if (!IsReshape(flow, node)) return false;
  const Dimensions& from = flow.type(node.operands[0]).dims;
  return from.size() == 1 || EqualWithoutUnits(from, flow.type(node.first_result).dims);
}

bool ReshapesPiece(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kReshape) return false;
  const Node* before = flow.ProducerNode(node.operands[0]);
  return before != nullptr && before->kind == OpKind::kDynamicSlice;
}

Dimensions FreeDimensions(size_t rank, const Dimensions& batch, const Dimensions& contracted) {
  Dimensions free;
  for (size_t i = 0; i < rank; ++i) {
    const auto at = static_cast<int64_t>(i);
    if (std::count(batch.begin(), batch.end(), at) + std::count(contracted.begin(), contracted.end(), at) == 0)
      free.push_back(at);
  }
  return free;
}

}  // namespace hespas::optimise
