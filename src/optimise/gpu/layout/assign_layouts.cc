// Puts values into the order in which they lie in memory (docs/spec/xla-gpu.md, section 9): the order of dimensions is
// the layout from here on, and a transpose moves data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/pass.h"
#include "optimise/gpu/layout/layout_solver.h"
#include "optimise/gpu/layout/permuted_op.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Assigner {
 public:
  Assigner(Dataflow& flow, const LayoutSolver& layouts)
      : flow_(flow), layouts_(layouts), made_(flow.value_count()), default_(flow.value_count(), 0) {
    for (size_t i = 0; i < default_.size(); ++i) default_[i] = LayoutOf(ValueId(i)).IsDefault() ? 1 : 0;
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) Visit(id);
    for (ValueId& out : flow_.outputs) out = Default(out);
    flow_.NoteChange();
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (IsAllDefault(id) && !MovesCopy(id) && !ReadsSwapped(id)) return ReadDefaults(id);
    switch (node.kind) {
      case OpKind::kOptimizationBarrier:
        return VisitBarrier(id);
      case OpKind::kIota:
        return VisitIota(id);
      case OpKind::kConstant:
        return VisitConstant(id);
      case OpKind::kBroadcastInDim:
        return VisitBroadcast(id);
      case OpKind::kReshape:
        return VisitReshape(id);
      case OpKind::kTranspose:
        return VisitTranspose(id);
      case OpKind::kReduce:
        return VisitReduce(id);
      case OpKind::kDotGeneral:
        return VisitDot(id);
      case OpKind::kScatter:
        return VisitOther(id);
      default:
        return layouts_.RuleOf(id) == LayoutRule::kSame ? VisitSame(id) : VisitOther(id);
    }
  }

  const Layout& LayoutOf(ValueId value) const { return layouts_.Of(value); }
  const Dimensions& DimsOf(ValueId value) const { return flow_.type(value).dims; }
  ir::TypeId TypeInMemory(ValueId value, const Layout& layout) const {
    return TensorLike(flow_.source(), flow_.type_id(value), InMemory(DimsOf(value), layout));
  }

  // Whether the op reads and makes default layouts alone.
  bool IsAllDefault(NodeId id) const {
    const Node& node = flow_.node(id);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (!layouts_.OfOperand(id, i).IsDefault()) return false;
    }
    for (uint32_t r = 0; r < node.result_count; ++r) {
      if (default_[flow_.result(id, r).index()] == 0) return false;
    }
    return true;
  }

  void ReadDefaults(NodeId id) {
    for (size_t i = 0; i < flow_.node(id).operands.size(); ++i) {
      const ValueId read = Default(flow_.node(id).operands[i]);
      flow_.node(id).operands[i] = read;
    }
  }

  ValueId Default(ValueId value) {
    return default_[value.index()] != 0 ? Made(value) : Get(value, Layout::Default(DimsOf(value).size()));
  }

  // The value with its dimensions in the layout's order.
  ValueId Get(ValueId value, const Layout& layout) {
    if (layout.rank() <= 1) return Made(value);
    const Layout& have = LayoutOf(value);
    if (have == layout) return Made(value);
    auto& made = transposed_[{value, layout}];
    if (!made.valid()) made = Turn(Made(value), DimsOf(value), have, layout);
    return made;
  }

  // What was made of a value, in its layout.
  ValueId Made(ValueId value) const { return made_[value.index()].valid() ? made_[value.index()] : value; }

  ValueId Turn(ValueId from, const Dimensions& dims, const Layout& have, const Layout& want) {
    if (have == want) return from;
    if (EqualInMemory(dims, have, want)) return Reshape(flow_, from, InMemory(dims, want));
    const Dimensions places = have.Places();
    Dimensions permutation;
    for (size_t i = 0; i < want.rank(); ++i) permutation.push_back(places[want[i]]);
    return Transpose(flow_, from, permutation);
  }

  // `made` is the op's result with its dimensions in the order of `layout`, which may not be the one it is to have.
  void Keep(ValueId result, ValueId made, const Layout& layout) {
    made = Turn(made, DimsOf(result), layout, LayoutOf(result));
    made_[result.index()] = made;
    if (LayoutOf(result).IsDefault()) flow_.Replace(result, made);
  }
  void Keep(ValueId result, ValueId made) { Keep(result, made, LayoutOf(result)); }

  ValueId AddLike(Node made, ValueId result, const Layout& layout) {
    const std::vector<ir::TypeId> types{TypeInMemory(result, layout)};
    return flow_.result(flow_.Add(std::move(made), types));
  }

  void VisitBarrier(NodeId id) {
    Node made = flow_.Copy(id);
    std::vector<ir::TypeId> types;
    for (ValueId& operand : made.operands) {
      types.push_back(TypeInMemory(operand, LayoutOf(operand)));
      operand = Made(operand);
    }
    const NodeId barrier = flow_.Add(std::move(made), types);
    for (uint32_t r = 0; r < types.size(); ++r) Keep(flow_.result(id, r), flow_.result(barrier, r));
  }

  void VisitIota(NodeId id) {
    const ValueId result = flow_.result(id);
    const auto dimension = IntegerOf(flow_, flow_.node(id), "iota_dimension");
    if (!dimension) return VisitOther(id);
    Node made = flow_.Copy(id);
    const int64_t place = LayoutOf(result).Places()[static_cast<size_t>(*dimension)];
    SetAttribute(flow_.source(), made, "iota_dimension", fmt::format("{} : i64", place));
    Keep(result, AddLike(std::move(made), result, LayoutOf(result)));
  }

  // XLA writes a constant's numbers in the order that is wanted; here only one number for all elements can be.
  void VisitConstant(NodeId id) {
    const ValueId result = flow_.result(id);
    const std::string_view* text = flow_.attribute(flow_.node(id), "value");
    const auto dense = text == nullptr ? std::nullopt : ir::AsDense(*text);
    if (!dense || dense->form != ir::DenseForm::kSplat) return VisitOther(id);
    Node made = flow_.Copy(id);
    const std::string type = flow_.source().types().Text(TypeInMemory(result, LayoutOf(result)));
    SetAttribute(flow_.source(), made, "value", fmt::format("dense<{}> : {}", dense->payload, type));
    Keep(result, AddLike(std::move(made), result, LayoutOf(result)));
  }

  void VisitBroadcast(NodeId id) {
    const ValueId result = flow_.result(id);
    const Layout& layout = LayoutOf(result);
    const auto places = IntegersOf(flow_, flow_.node(id), "broadcast_dimensions");
    if (!places) return VisitOther(id);
    const Layout before = Filtered(layout, *places);
    const Dimensions place = layout.Places();
    Dimensions to;
    for (size_t i = 0; i < before.rank(); ++i) to.push_back(place[static_cast<size_t>((*places)[before[i]])]);
    const ValueId input = Get(flow_.node(id).operands[0], before);
    Keep(result, BroadcastInDim(flow_, input, TypeInMemory(result, layout), to, flow_.node(id).origin));
  }

  // A reshape that moves data is one that moves nothing, and a transpose before or after it (ReshapeDecomposer).
  void VisitReshape(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const ValueId result = flow_.result(id);
    const Dimensions from = DimsOf(input);
    const Dimensions to = DimsOf(result);
    Layout after = LayoutOf(result);
    auto before = Align(to, after, from);
    if (!before) {
      before = layouts_.OfOperand(id, 0);
      const auto aligned = Align(from, *before, to);
      if (!aligned) before = Layout::Default(from.size());
      after = aligned.value_or(Layout::Default(to.size()));
    }
    const ValueId made = Reshape(flow_, Get(input, *before), InMemory(to, after));
    if (!EqualInMemory(to, after, LayoutOf(result))) copied_[result] = {made, after};
    Keep(result, made, after);
  }

  void VisitTranspose(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const auto before = OperandFromResult(flow_, flow_.node(id), LayoutOf(flow_.result(id)));
    if (!before) return VisitOther(id);
    Keep(flow_.result(id), Get(input, *before));
  }

  // A reduction leaves what stays in the order of its operand.
  void VisitReduce(NodeId id) {
    const ValueId result = flow_.result(id);
    const auto reduced = IntegersOf(flow_, flow_.node(id), "dimensions");
    if (!reduced) return VisitOther(id);
    Node made = flow_.Copy(id);
    // It reads what a copy would be made of.
    const auto copied = CopiedFrom(made.operands[0], layouts_.OfOperand(id, 0));
    const Layout before = copied ? copied->layout : layouts_.OfOperand(id, 0);
    const Layout after = Filtered(before, FreeDimensions(before.rank(), {}, *reduced));
    made.operands = {copied ? copied->made : Get(made.operands[0], before), Default(made.operands[1])};
    Dimensions places;
    for (const int64_t d : *reduced) places.push_back(before.Places()[static_cast<size_t>(d)]);
    std::sort(places.begin(), places.end());
    SetAttribute(flow_.source(), made, "dimensions", ArrayText(places));
    Keep(result, AddLike(std::move(made), result, after), after);
  }

  // Batches come first; where columns lie before rows the operands change places.
  void VisitDot(NodeId id) {
    const auto dims = CanonicalDimensions(flow_, flow_.node(id));
    if (!dims) return VisitOther(id);
    const std::vector<ValueId> operands = flow_.node(id).operands;
    const ValueId result = flow_.result(id);
    Layout layouts[] = {layouts_.OfOperand(id, 0), layouts_.OfOperand(id, 1)};
    std::array<ValueId, 2> values = {Get(operands[0], layouts[0]), Get(operands[1], layouts[1])};
    for (const size_t side : {size_t{0}, size_t{1}}) {
      // What exchanges rows and columns is folded (TransposeFolding), but not behind a bitcast: to another layout, or
      // for several batch dimensions to become one.
      if (!layouts[side].IsDefault() || layouts[side].rank() < 2 || dims->lhs_batching.size() > 1) continue;
      const Node* before = flow_.ProducerNode(values[side]);
      if (before == nullptr || !SwapsMatrix(flow_, *before)) continue;
      values[side] = before->operands[0];
      layouts[side] = Swapped(layouts[side].rank(), layouts[side].rank() - 2);
    }
    const auto placed = [&](const Dimensions& list, size_t side) {
      Dimensions out;
      for (const int64_t d : list) out.push_back(layouts[side].Places()[static_cast<size_t>(d)]);
      return out;
    };
    const Dimensions batch[] = {placed(dims->lhs_batching, 0), placed(dims->rhs_batching, 1)};
    const Dimensions contract[] = {placed(dims->lhs_contracting, 0), placed(dims->rhs_contracting, 1)};
    const Layout swapped = Swapped(DimsOf(result).size(), batch[0].size());
    const size_t first = LayoutOf(result) == swapped ? 1 : 0;
    const size_t second = 1 - first;
    const Layout after = first == 1 ? swapped : Layout::Default(swapped.rank());
    const ir::DotDimensions transposed{.lhs_batching = batch[first],
                                       .rhs_batching = batch[second],
                                       .lhs_contracting = contract[first],
                                       .rhs_contracting = contract[second]};
    Keep(result, AddDot(flow_, id, {values[first], values[second]}, transposed, TypeInMemory(result, after)), after);
  }

  // Batches, columns, rows.
  static Layout Swapped(size_t rank, size_t batch) {
    Layout layout = Layout::Default(batch);
    for (size_t i = rank; i-- > batch;) layout.Append(i);
    return layout;
  }

  void VisitSame(NodeId id) {
    const ValueId result = flow_.result(id);
    const auto before_copy = LayoutBeforeCopy(id);
    const Layout layout = before_copy.value_or(LayoutOf(result));
    Node made = flow_.Copy(id);
    for (ValueId& operand : made.operands) {
      if (DimsOf(operand).size() != layout.rank()) {
        operand = Default(operand);
      } else {
        operand = before_copy ? CopiedFrom(operand, LayoutOf(result))->made : Get(operand, layout);
      }
    }
    const ir::OpSort sort = ir::Traits(made.kind).sort;
    const bool by_dimension = sort != ir::OpSort::kElementwise && sort != ir::OpSort::kCollective;
    if (by_dimension && !PermuteOp(flow_, made, layout)) return VisitOther(id);
    const ValueId moved = AddLike(std::move(made), result, layout);
    if (before_copy) copied_[result] = {moved, layout};
    Keep(result, moved, layout);
  }

  // A value in another layout, of which an op reads a copy.
  struct Copied {
    ValueId made;
    Layout layout;
  };

  // What the op that wants the value so copies, if it does.
  std::optional<Copied> CopiedFrom(ValueId value, const Layout& wanted) const {
    if (!EqualInMemory(DimsOf(value), LayoutOf(value), wanted)) return Copied{Made(value), LayoutOf(value)};
    const auto found = copied_.find(value);
    return found == copied_.end() ? std::nullopt : std::optional(found->second);
  }

  // Copies into another layout move behind slices, pads, reversals, windows and ops of one operand, and behind ops of
  // two operands and concatenations where all operands are such copies (move_copy_to_users.cc).
  std::optional<Layout> LayoutBeforeCopy(NodeId id) const {
    const Node& node = flow_.node(id);
    size_t arrays = 1;
    switch (node.kind) {
      case OpKind::kSlice:
      case OpKind::kPad:
      case OpKind::kReverse:
      case OpKind::kDynamicSlice:
      case OpKind::kReduceWindow:
        break;
      case OpKind::kConcatenate:
        arrays = node.operands.size();
        break;
      default:
        arrays = node.operands.size();
        if (ir::Traits(node.kind).sort != ir::OpSort::kElementwise || arrays > 2 ||
            node.kind == OpKind::kReducePrecision || node.kind == OpKind::kBitcastConvert) {
          return std::nullopt;
        }
    }
    std::optional<Layout> layout;
    for (size_t i = 0; i < arrays; ++i) {
      if (DimsOf(node.operands[i]).size() <= 1) return std::nullopt;
      const auto copied = CopiedFrom(node.operands[i], LayoutOf(node.first_result));
      if (!copied || (layout && copied->layout != *layout)) return std::nullopt;
      layout = copied->layout;
    }
    return layout;
  }

  // A matmul of default layouts that could fold a transpose.
  bool ReadsSwapped(NodeId id) const {
    const Node& node = flow_.node(id);
    return node.kind == OpKind::kDotGeneral &&
           std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
             return made_[operand.index()].valid() || default_[operand.index()] == 0;
           });
  }

  bool MovesCopy(NodeId id) const {
    const Node& node = flow_.node(id);
    if (node.result_count != 1 || node.operands.empty()) return false;
    if (node.kind == OpKind::kReduce) return copied_.count(node.operands[0]) > 0;
    return layouts_.RuleOf(id) == LayoutRule::kSame && LayoutBeforeCopy(id);
  }

  // The op as it was, between transposes.
  void VisitOther(NodeId id) {
    ReadDefaults(id);
    for (uint32_t r = 0; r < flow_.node(id).result_count; ++r) {
      const ValueId result = flow_.result(id, r);
      made_[result.index()] = Turn(result, DimsOf(result), Layout::Default(DimsOf(result).size()), LayoutOf(result));
    }
  }

  Dataflow& flow_;
  const LayoutSolver& layouts_;
  std::vector<ValueId> made_;  // by value: in its layout; invalid where it is as it was
  std::vector<char> default_;  // by value: its layout
  std::map<std::pair<ValueId, Layout>, ValueId> transposed_;
  std::map<ValueId, Copied> copied_;
};

}  // namespace

void AssignLayouts(Dataflow& flow, PassContext&) {
  LayoutSolver layouts(flow);
  if (layouts.Solve() && !layouts.AreAllDefault()) Assigner(flow, layouts).Run();
}

}  // namespace hespas::optimise
