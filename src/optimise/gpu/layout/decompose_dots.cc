// Dots get one dimension each for rows, columns and what is summed, as XLA's DotDecomposer does, and fold transposes
// that only exchange rows and columns (TransposeFolding): docs/spec/xla-gpu.md, section 8.
#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/gpu/layout/layout_rules.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// An operand: the value, and which of its dimensions have which role.
struct Side {
  ValueId value;
  Dimensions batch;
  Dimensions contracted;
};

bool AreFirst(const Dimensions& dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Dimensions Joined(const Dimensions& a, const Dimensions& b, const Dimensions& c) {
  Dimensions all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

class Decomposer {
 public:
  explicit Decomposer(Dataflow& flow) : flow_(flow), users_(flow.Users()) {
    returned_.insert(flow.outputs.begin(), flow.outputs.end());
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      const Node& node = flow_.node(id);
      if (node.kind == OpKind::kDotGeneral || node.kind == OpKind::kDot) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  const Dimensions& DimsOf(ValueId value) const { return flow_.type(value).dims; }
  Dimensions FreeOf(const Side& side) const {
    return FreeDimensions(DimsOf(side.value).size(), side.batch, side.contracted);
  }
  int64_t SizeOf(ValueId value, const Dimensions& dimensions) const {
    int64_t size = 1;
    for (const int64_t d : dimensions) size *= DimsOf(value)[static_cast<size_t>(d)];
    return size;
  }

  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    const auto dims = node.origin.valid() ? ir::DotDimensionsOf(flow_.source(), node.origin) : std::nullopt;
    if (!dims || node.operands.size() != 2) return;
    for (const ValueId value : {node.operands[0], node.operands[1], node.first_result}) {
      if (!flow_.type(value).has_static_shape() || flow_.type(value).element_count() == 0) return;
    }
    Side lhs{node.operands[0], dims->lhs_batching, dims->lhs_contracting};
    Side rhs{node.operands[1], dims->rhs_batching, dims->rhs_contracting};
    const ValueId result = flow_.result(id);
    if (!IsCanonical(lhs) || !IsCanonical(rhs)) {
      lhs = Canonical(lhs, true);
      rhs = Canonical(rhs, false);
    }
    if (HasUnitBatches(lhs)) {
      lhs = WithoutUnitBatches(lhs);
      rhs = WithoutUnitBatches(rhs);
    } else {
      lhs = WithoutSwap(lhs);
      rhs = WithoutSwap(rhs);
    }
    const ValueId transposed = TransposedResult(result, lhs, rhs);
    Rewrite(id, transposed.valid() ? transposed : result, transposed.valid() ? rhs : lhs,
            transposed.valid() ? lhs : rhs);
  }

  bool IsCanonical(const Side& side) const {
    return side.contracted.size() == 1 && AreFirst(side.batch) && FreeOf(side).size() <= 1;
  }

  // Batches, rows, columns: what is summed comes last on the left and before the free dimension on the right.
  Side Canonical(const Side& side, bool left) {
    const Dimensions free = FreeOf(side);
    const Dimensions order =
        left ? Joined(side.batch, free, side.contracted) : Joined(side.batch, side.contracted, free);
    ValueId value = Transposed(side.value, order);
    Dimensions shape;
    for (const int64_t d : side.batch) shape.push_back(DimsOf(side.value)[static_cast<size_t>(d)]);
    const auto batches = static_cast<int64_t>(shape.size());
    const int64_t contracted = SizeOf(side.value, side.contracted);
    if (left && !free.empty()) shape.push_back(SizeOf(side.value, free));
    const auto at = static_cast<int64_t>(shape.size());
    shape.push_back(contracted);
    if (!left && !free.empty()) shape.push_back(SizeOf(side.value, free));
    Dimensions batch(static_cast<size_t>(batches));
    std::iota(batch.begin(), batch.end(), 0);
    return {Reshape(flow_, value, std::move(shape)), std::move(batch), {at}};
  }

  // Transposes before become one with this.
  ValueId Transposed(ValueId value, Dimensions order) {
    const Node* before = flow_.ProducerNode(value);
    while (before != nullptr && before->kind == OpKind::kTranspose) {
      const auto first = IntegersOf(flow_, *before, "permutation");
      if (!first) break;
      for (int64_t& d : order) d = (*first)[static_cast<size_t>(d)];
      value = before->operands[0];
      before = flow_.ProducerNode(value);
    }
    return std::is_sorted(order.begin(), order.end()) ? value : Transpose(flow_, value, order);
  }

  bool HasUnitBatches(const Side& side) const {
    return std::any_of(side.batch.begin(), side.batch.end(),
                       [&](int64_t d) { return DimsOf(side.value)[static_cast<size_t>(d)] == 1; });
  }

  // They are dropped, and transposes before are not folded then (RemoveDegenerateDimensionFromDot).
  Side WithoutUnitBatches(const Side& side) {
    const Dimensions dims = DimsOf(side.value);
    Dimensions kept;  // dimensions
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i >= side.batch.size() || dims[i] != 1) kept.push_back(static_cast<int64_t>(i));
    }
    const size_t dropped = dims.size() - kept.size();
    Dimensions batch(side.batch.size() - dropped);
    std::iota(batch.begin(), batch.end(), 0);
    return {Kept(side.value, kept), std::move(batch), {side.contracted[0] - static_cast<int64_t>(dropped)}};
  }

  // Without the unit dimensions that `kept` lacks; a transpose stays the last op.
  ValueId Kept(ValueId value, const Dimensions& kept) {
    const Node* before = flow_.ProducerNode(value);
    const auto order = before != nullptr && before->kind == OpKind::kTranspose
                           ? IntegersOf(flow_, *before, "permutation")
                           : std::nullopt;
    const ValueId input = order ? before->operands[0] : value;
    Dimensions from;
    for (const int64_t d : kept) from.push_back(order ? (*order)[static_cast<size_t>(d)] : d);
    const Dimensions transposed = from;
    std::sort(from.begin(), from.end());
    Dimensions shape;
    for (const int64_t d : from) shape.push_back(DimsOf(input)[static_cast<size_t>(d)]);
    const ValueId made = Reshape(flow_, input, std::move(shape));
    Dimensions permutation;
    for (const int64_t d : transposed)
      permutation.push_back(std::lower_bound(from.begin(), from.end(), d) - from.begin());
    return std::is_sorted(permutation.begin(), permutation.end()) ? made : Transpose(flow_, made, permutation);
  }

  Side WithoutSwap(const Side& side) const {
    const Node* before = flow_.ProducerNode(side.value);
    if (before == nullptr || !SwapsMatrix(flow_, *before)) return side;
    const auto rank = static_cast<int64_t>(DimsOf(side.value).size());
    if (rank != static_cast<int64_t>(side.batch.size()) + 2) return side;
    return {before->operands[0], side.batch, {2 * rank - 3 - side.contracted[0]}};
  }

  // The matrix's only consumer where that exchanges rows and columns: the operands then change places
  // (AlgebraicSimplifier::HandleTranspose).
  ValueId TransposedResult(ValueId result, const Side& lhs, const Side& rhs) const {
    if (users_[result.index()].size() != 1 || returned_.count(result) > 0) return ValueId();
    const Node& consumer = flow_.node(users_[result.index()][0]);
    const bool matrices = DimsOf(result).size() == lhs.batch.size() + 2 && !FreeOf(lhs).empty() && !FreeOf(rhs).empty();
    return matrices && SwapsMatrix(flow_, consumer) ? consumer.first_result : ValueId();
  }

  // Puts the dot in the place of `result`.
  void Rewrite(NodeId id, ValueId result, const Side& lhs, const Side& rhs) {
    Dimensions out;
    for (const int64_t d : lhs.batch) out.push_back(DimsOf(lhs.value)[static_cast<size_t>(d)]);
    for (const Side* side : {&lhs, &rhs}) {
      for (const int64_t d : FreeOf(*side)) out.push_back(DimsOf(side->value)[static_cast<size_t>(d)]);
    }
    const ir::DotDimensions dims{.lhs_batching = lhs.batch,
                                 .rhs_batching = rhs.batch,
                                 .lhs_contracting = lhs.contracted,
                                 .rhs_contracting = rhs.contracted};
    const ir::TypeId type = TensorLike(flow_.source(), flow_.type_id(result), out);
    const ValueId dot = AddDot(flow_, id, {lhs.value, rhs.value}, dims, type);
    flow_.Replace(result, ReshapeTo(flow_, dot, flow_.type_id(result)));
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
};

}  // namespace

void DecomposeDots(Dataflow& flow, PassContext&) { Decomposer(flow).Run(); }

}  // namespace hespas::optimise
