// Algebraic simplification: what changes neither value nor layout disappears, chains of layout ops become one.
#include <algorithm>
#include <numeric>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Bits of floating-point types.
struct Format {
  ir::ElementKind kind;
  int64_t exponent;
  int64_t mantissa;
};
constexpr Format kFormats[] = {{ir::ElementKind::kBF16, 8, 7},
                               {ir::ElementKind::kF16, 5, 10},
                               {ir::ElementKind::kF32, 8, 23},
                               {ir::ElementKind::kF64, 11, 52}};

bool IsIdentity(const Dimensions& permutation) { return std::is_sorted(permutation.begin(), permutation.end()); }

// A transpose that moves only unit dimensions is a reshape.
bool MovesOnlyUnits(const Dimensions& dims, const Dimensions& permutation) {
  int64_t last = -1;
  for (const int64_t p : permutation) {
    if (dims[static_cast<size_t>(p)] == 1) continue;
    if (p < last) return false;
    last = p;
  }
  return true;
}

class Simplifier {
 public:
  explicit Simplifier(Dataflow& flow) : flow_(flow) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      if (flow_.node(id).result_count == 1) Visit(id);
      if (flow_.node(id).kind == OpKind::kGetTupleElement) VisitTupleElement(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.own_operand_count() == 0) return;
    const ValueId input = node.operands[0];
    switch (node.kind) {
      case OpKind::kCopy:
        return Forward(id, input);
      case OpKind::kBroadcastInDim:
        return KeepsType(id) && KeepsOrder(node) ? Forward(id, input) : void();
      case OpKind::kConvert:
      case OpKind::kSlice:
      case OpKind::kBitcast:
        return KeepsType(id) ? Forward(id, input) : void();
      case OpKind::kConcatenate:
        return node.operands.size() == 1 ? Forward(id, input) : void();
      case OpKind::kReduce:
        return VisitReduce(id);
      case OpKind::kReducePrecision:
        return KeepsPrecision(node) ? Forward(id, input) : void();
      case OpKind::kReshape:
        return VisitReshape(id);
      case OpKind::kTranspose:
        return VisitTranspose(id);
      default:
        return;
    }
  }

  // A broadcast of a square may exchange its dimensions.
  bool KeepsOrder(const Node& broadcast) const {
    const auto places = IntegersOf(flow_, broadcast, "broadcast_dimensions");
    return places && IsIdentity(*places);
  }

  bool KeepsType(NodeId id) const {
    return flow_.type_id(flow_.result(id)) == flow_.type_id(flow_.node(id).operands[0]);
  }

  // Rounding to a format that holds every value of the type.
  bool KeepsPrecision(const Node& node) const {
    const auto exponent = IntegerOf(flow_, node, "exponent_bits");
    const auto mantissa = IntegerOf(flow_, node, "mantissa_bits");
    if (!exponent || !mantissa) return false;
    const ir::ElementKind kind = flow_.type(node.operands[0]).element.kind;
    return std::any_of(std::begin(kFormats), std::end(kFormats), [&](const Format& format) {
      return format.kind == kind && *exponent >= format.exponent && *mantissa >= format.mantissa;
    });
  }

  void Forward(NodeId id, ValueId to) {
    if (flow_.type_id(to) == flow_.type_id(flow_.result(id))) flow_.Replace(flow_.result(id), to);
  }

  // Reducing dimensions of size 1 only drops them: the initial value is the reducer's neutral element.
  void VisitReduce(NodeId id) {
    const Node& node = flow_.node(id);
    const ValueId input = node.operands[0];
    const auto reduced = IntegersOf(flow_, node, "dimensions");
    if (!reduced || node.operands.size() != 2) return;
    const Dimensions& dims = flow_.type(input).dims;
    for (const int64_t d : *reduced) {
      if (d < 0 || static_cast<size_t>(d) >= dims.size() || dims[static_cast<size_t>(d)] != 1) return;
    }
    if (flow_.type(input).element != flow_.type(flow_.result(id)).element) return;
    flow_.Replace(flow_.result(id), ReshapeTo(flow_, input, flow_.type_id(flow_.result(id))));
  }

  void VisitReshape(NodeId id) {
    Node& node = flow_.node(id);
    const Node* before = flow_.ProducerNode(node.operands[0]);
    if (before != nullptr && before->kind == OpKind::kReshape) {
      node.operands[0] = before->operands[0];
      flow_.NoteChange();
    }
    if (KeepsType(id)) Forward(id, node.operands[0]);
  }

  void VisitTranspose(NodeId id) {
    const Node& node = flow_.node(id);
    const auto permutation = IntegersOf(flow_, node, "permutation");
    if (!permutation || permutation->size() != flow_.type(node.operands[0]).dims.size()) return;
    ValueId input = node.operands[0];
    Dimensions whole = *permutation;
    const Node* before = flow_.ProducerNode(input);
    if (before != nullptr && before->kind == OpKind::kTranspose) {
      const auto first = IntegersOf(flow_, *before, "permutation");
      if (first && first->size() == whole.size()) {
        for (int64_t& p : whole) p = (*first)[static_cast<size_t>(p)];
        input = before->operands[0];
      }
    }
    const ValueId old = flow_.result(id);
    if (IsIdentity(whole)) {
      Forward(id, input);
    } else if (MovesOnlyUnits(flow_.type(input).dims, whole)) {
      const ir::TypeId type = flow_.type_id(old);
      flow_.Replace(old, ReshapeTo(flow_, input, type));
    } else if (whole != *permutation) {
      const ValueId made = Transpose(flow_, input, whole);
      flow_.Replace(old, ReshapeTo(flow_, made, flow_.type_id(old)));
    }
  }

  void VisitTupleElement(NodeId id) {
    const Node& node = flow_.node(id);
    const Node* tuple = flow_.ProducerNode(node.operands[0]);
    const auto index = IntegerOf(flow_, node, "index");
    if (tuple == nullptr || tuple->kind != OpKind::kTuple || !index || *index < 0) return;
    if (static_cast<size_t>(*index) < tuple->operands.size()) Forward(id, tuple->operands[static_cast<size_t>(*index)]);
  }

  Dataflow& flow_;
};

}  // namespace

void Simplify(Dataflow& flow, PassContext&) { Simplifier(flow).Run(); }

void EliminateDeadCode(Dataflow& flow, PassContext&) { flow.Normalise(); }

}  // namespace hespas::optimise
