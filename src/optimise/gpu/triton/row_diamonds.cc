#include "optimise/gpu/triton/row_diamonds.h"

#include <algorithm>
#include <bit>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/reducer.h"
#include "optimise/gpu/rules.h"
#include "optimise/gpu/triton/triton_rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

bool IsSplatConstant(const Dataflow& flow, ValueId value) {
  const Node* node = flow.ProducerNode(value);
  if (node != nullptr && IsBroadcast(*node)) node = flow.ProducerNode(node->operands[0]);
  return node != nullptr && node->kind == OpKind::kConstant && IsInlineConstant(flow, *node);
}

class Finder {
 public:
  Finder(const Dataflow& flow, bool is_main) : flow_(flow), is_main_(is_main), users_(flow.Users()), uses_(flow) {
    for (const ValueId out : flow.outputs) ++uses_.returned[out.index()];
  }

  std::vector<RowRole> Run() {
    for (const NodeId id : flow_.order()) Match(id);
    return std::move(roles_);
  }

 private:
  struct Uses {
    explicit Uses(const Dataflow& flow) : returned(flow.value_count(), 0) {}
    std::vector<uint32_t> returned;  // by value
  };

  size_t UsesOf(ValueId value) const { return users_[value.index()].size() + uses_.returned[value.index()]; }
  bool HasOneUse(ValueId value) const { return UsesOf(value) == 1; }

  // XLA's IsBroadcastOfParameter: of the program; a loop's parameters come out of a tuple.
  bool IsBroadcastOfParameter(ValueId value) const {
    const Node* node = flow_.ProducerNode(value);
    return is_main_ && node != nullptr && IsBroadcast(*node) && !flow_.producer(node->operands[0]).valid();
  }
  bool IsSplat(ValueId value) const { return IsSplatConstant(flow_, value) || IsBroadcastOfParameter(value); }

  // A broadcast that only adds dimensions of one element is a bitcast.
  bool IsBitcast(const Node& node) const {
    if (node.kind == OpKind::kReshape || node.kind == OpKind::kBitcast) return true;
    return IsBroadcast(node) && Elements(node.first_result) == Elements(node.operands[0]);
  }
  bool IsRealBroadcast(const Node& node) const { return IsBroadcast(node) && !IsBitcast(node); }

  int64_t Elements(ValueId value) const {
    return flow_.type(value).has_static_shape() ? flow_.type(value).element_count() : 0;
  }

  // Reads no more than one array that is no splat, and fits any tiling.
  bool IsTrivial(const Node& node) const {
    if (node.result_count != 1 || UsesOf(node.first_result) > 1) return false;
    if (IsBitcast(node)) return true;
    if (ir::Traits(node.kind).sort != OpSort::kElementwise || !IsTiledByTriton(flow_, node)) return false;
    if (node.operands.size() == 1) return true;
    if (node.operands.size() != 2) return false;
    return node.operands[0] == node.operands[1] || IsSplat(node.operands[0]) != IsSplat(node.operands[1]);
  }
  ValueId Through(const Node& node) const {
    return node.operands.size() > 1 && IsSplat(node.operands[0]) ? node.operands[1] : node.operands[0];
  }

  // Up from a value through trivial ops to the first op for which `is_end` holds; the ops on the way are noted.
  template <class IsEnd>
  NodeId Climb(ValueId value, IsEnd is_end) {
    for (;;) {
      const NodeId id = flow_.producer(value);
      if (!id.valid()) return {};
      const Node& node = flow_.node(id);
      if (is_end(node)) return id;
      if (!IsTrivial(node)) return {};
      inside_.push_back(id);
      value = Through(node);
    }
  }

  // A reduction of the last dimension alone, of rows that a tile holds.
  bool ReducesTiledRows(const Node& node) const {
    if (node.own_operand_count() != 2 || node.result_count != 1 || !IsSplatConstant(flow_, node.operands[1]))
      return false;
    const auto reduced = IntegersOf(flow_, node, "dimensions");
    const ir::Type& type = flow_.type(node.operands[0]);
    if (!reduced || !type.has_static_shape() || ReducerKind(flow_.source(), node.origin) == OpKind::kUnknown)
      return false;
    std::optional<size_t> found;
    for (const int64_t d : *reduced) {
      if (type.dims[static_cast<size_t>(d)] == 1) continue;
      if (found) return false;
      found = static_cast<size_t>(d);
    }
    if (!found) return false;
    const auto& dims = type.dims;
    const bool last = std::all_of(dims.begin() + static_cast<std::ptrdiff_t>(*found) + 1, dims.end(),
                                  [](int64_t d) { return d == 1; });
    const auto row = std::bit_ceil(static_cast<uint64_t>(dims[*found]));
    return last && static_cast<double>(row) <= gpu_rules::kTileRegisters;
  }

  bool BroadcastsAlongRows(const Node& broadcast) const {
    const auto to = IntegersOf(flow_, broadcast, "broadcast_dimensions");
    const auto& dims = flow_.type(broadcast.first_result).dims;
    const auto& from = flow_.type(broadcast.operands[0]).dims;
    if (!to || dims.empty()) return false;
    size_t last = dims.size() - 1;
    while (last > 0 && dims[last] == 1) --last;
    for (size_t i = 0; i < to->size() && i < from.size(); ++i) {
      if (static_cast<size_t>((*to)[i]) == last && from[i] != 1) return false;
    }
    return true;
  }

  void Match(NodeId root) {
    const Node& node = flow_.node(root);
    const bool binary = node.operands.size() == 2 && ir::Traits(node.kind).sort == OpSort::kElementwise;
    if (!binary || node.result_count != 1 || !IsTiledByTriton(flow_, node)) return;
    inside_.clear();
    const NodeId broadcast = Climb(node.operands[1], [&](const Node& n) { return IsRealBroadcast(n); });
    if (!broadcast.valid() || !HasOneUse(flow_.result(broadcast)) || !BroadcastsAlongRows(flow_.node(broadcast)))
      return;
    inside_.push_back(broadcast);
    const NodeId reduce =
        Climb(flow_.node(broadcast).operands[0], [](const Node& n) { return n.kind == OpKind::kReduce; });
    if (!reduce.valid() || !HasOneUse(flow_.result(reduce)) || !ReducesTiledRows(flow_.node(reduce))) return;
    inside_.push_back(reduce);
    ValueId producer = flow_.node(reduce).operands[0];
    while (flow_.producer(producer).valid() && IsTrivial(*flow_.ProducerNode(producer))) {
      inside_.push_back(flow_.producer(producer));
      producer = Through(*flow_.ProducerNode(producer));
    }
    ValueId other = node.operands[0];
    if (producer != other && !HasOneUse(other)) return;
    for (; other != producer; other = Through(*flow_.ProducerNode(other))) {
      if (!flow_.producer(other).valid() || !IsTrivial(*flow_.ProducerNode(other))) return;
      inside_.push_back(flow_.producer(other));
    }
    if (roles_.empty()) roles_.assign(flow_.node_count(), RowRole::kNone);
    for (const NodeId id : inside_) roles_[id.index()] = RowRole::kInside;
    roles_[root.index()] = RowRole::kEnd;
  }

  const Dataflow& flow_;
  bool is_main_;
  UserTable users_;
  Uses uses_;
  std::vector<NodeId> inside_;  // of the diamond at hand
  std::vector<RowRole> roles_;
};

}  // namespace

bool IsTiledByTriton(const Dataflow& flow, const Node& node) {
  if (node.result_count != 1 || !node.bodies.empty()) return false;
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kElementwise:
      return IsTritonElementwise(flow, node);
    case OpSort::kConstant:
      return IsInlineConstant(flow, node);
    case OpSort::kReduction:
      return node.kind == OpKind::kReduce && node.own_operand_count() == 2 && ReducesRows(flow, node);
    case OpSort::kLayout:
      return node.kind == OpKind::kReshape || node.kind == OpKind::kBitcast || node.kind == OpKind::kTranspose ||
             IsBroadcast(node);
    default:
      return node.kind == OpKind::kSlice;
  }
}

std::vector<RowRole> FindRowDiamonds(const Dataflow& flow, bool is_main) { return Finder(flow, is_main).Run(); }

}  // namespace hespas::optimise
