// Arithmetic with numbers that the program spells out (XLA's AlgebraicSimplifier and ConstantFolding): powers become
// multiplications, divisions by a number multiply, what changes nothing goes, and
// broadcasts of broadcasts are one.
//
// Source: xla/hlo/transforms/simplifiers/algebraic_simplifier.cc, HandlePower, HandleDivide, HandleMultiply, HandleAdd,
// HandleSubtract.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/attributes/attribute.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::ElementKind;
using ir::OpKind;

bool IsFloat(const ir::Type& type) {
  const ElementKind kind = type.element.kind;
  return !type.element.complex && (kind == ElementKind::kF32 || kind == ElementKind::kF16 ||
                                   kind == ElementKind::kBF16 || kind == ElementKind::kF64);
}

class Algebra {
 public:
  explicit Algebra(Dataflow& flow) : flow_(flow) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      const Node& node = flow_.node(id);
      if (node.result_count != 1 || !flow_.type(node.first_result).has_static_shape()) continue;
      if (node.kind == OpKind::kBroadcastInDim) {
        VisitBroadcast(id);
      } else if (IsFloat(flow_.type(node.first_result))) {
        Visit(id);
      }
    }
    flow_.Normalise();
    const std::vector<NodeId> rest = flow_.order();
    for (const NodeId id : rest) {
      if (flow_.node(id).kind == OpKind::kBroadcastInDim) ReshapeByBroadcast(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.kind == OpKind::kConvert) return VisitConvert(id);
    if (node.operands.size() != 2) return;
    const auto right = NumberOf(flow_, node.operands[1]);
    switch (node.kind) {
      case OpKind::kPower:
        return right ? VisitPower(id, *right) : void();
      case OpKind::kDivide:
        return right ? VisitDivide(id, *right) : void();
      case OpKind::kSubtract:
        return right && *right == 0 ? Forward(id, 0) : void();
      case OpKind::kMultiply:
      case OpKind::kAdd: {
        const double neutral = node.kind == OpKind::kMultiply ? 1 : 0;
        if (right && *right == neutral) return Forward(id, 0);
        const auto left = NumberOf(flow_, node.operands[0]);
        if (left && *left == neutral) Forward(id, 1);
        return;
      }
      default:
        return;
    }
  }

  ValueId Constant(double number, ir::TypeId like) {
    const ir::TypeId scalar = TensorLike(flow_.source(), like, {});
    const std::string text = fmt::format("dense<{:.17e}> : {}", number, flow_.source().types().Text(scalar));
    const ValueId made = flow_.result(flow_.Add({.name = "stablehlo.constant",
                                                 .operands = {},
                                                 .results = {scalar},
                                                 .attributes = {MakeAttribute(flow_.source(), "value", text)}}));
    return flow_.source().types()[like].dims.empty() ? made : BroadcastInDim(flow_, made, like, {});
  }

  ValueId Binary(NodeId like, std::string_view name, ValueId a, ValueId b) {
    return flow_.result(flow_.Add({.name = name,
                                   .operands = {a, b},
                                   .results = {flow_.type_id(flow_.result(like))},
                                   .origin = flow_.node(like).origin}));
  }

  void Forward(NodeId id, size_t operand) {
    const ValueId to = flow_.node(id).operands[operand];
    if (flow_.type_id(to) == flow_.type_id(flow_.result(id))) flow_.Replace(flow_.result(id), to);
  }

  void VisitConvert(NodeId id) {
    const Node& node = flow_.node(id);
    const Node* constant = flow_.ProducerNode(node.operands[0]);
    const auto number = NumberOf(flow_, node.operands[0]);
    if (constant == nullptr || constant->kind != OpKind::kConstant || !number) return;
    flow_.Replace(flow_.result(id), Constant(*number, flow_.type_id(flow_.result(id))));
  }

  // A broadcast that only adds dimensions of size 1 is a reshape.
  void ReshapeByBroadcast(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const ValueId old = flow_.result(id);
    const ir::Type& from = flow_.type(input);
    const ir::Type& to = flow_.type(old);
    if (!from.has_static_shape() || !to.has_static_shape() || from.element_count() <= 1 ||
        from.element_count() != to.element_count())
      return;
    const auto places = IntegersOf(flow_, flow_.node(id), "broadcast_dimensions");
    if (places && std::is_sorted(places->begin(), places->end()))
      flow_.Replace(old, ReshapeTo(flow_, input, flow_.type_id(old)));
  }

  // A broadcast of a broadcast is one.
  void VisitBroadcast(NodeId id) {
    const Node* inner = flow_.ProducerNode(flow_.node(id).operands[0]);
    if (inner == nullptr || inner->kind != OpKind::kBroadcastInDim) return;
    const auto first = IntegersOf(flow_, *inner, "broadcast_dimensions");
    const auto second = IntegersOf(flow_, flow_.node(id), "broadcast_dimensions");
    if (!first || !second || !flow_.type(inner->operands[0]).has_static_shape()) return;
    Dimensions to;
    for (const int64_t d : *first) {
      if (d < 0 || static_cast<size_t>(d) >= second->size()) return;
      to.push_back((*second)[static_cast<size_t>(d)]);
    }
    const ValueId old = flow_.result(id);
    flow_.Replace(old, BroadcastInDim(flow_, inner->operands[0], flow_.type_id(old), to, flow_.node(id).origin));
  }

  void VisitPower(NodeId id, double exponent) {
    const ValueId base = flow_.node(id).operands[0];
    const ValueId old = flow_.result(id);
    if (exponent == 1) return Forward(id, 0);
    if (exponent == 2) return flow_.Replace(old, Binary(id, "stablehlo.multiply", base, base));
    if (exponent == 3) {
      const ValueId square = Binary(id, "stablehlo.multiply", base, base);
      return flow_.Replace(old, Binary(id, "stablehlo.multiply", square, base));
    }
    if (exponent == -1) {
      flow_.Replace(old, Binary(id, "stablehlo.divide", Constant(1, flow_.type_id(old)), base));
    }
  }

  // A / c = A * (1 / c)
  void VisitDivide(NodeId id, double divisor) {
    if (divisor == 1) return Forward(id, 0);
    const ValueId old = flow_.result(id);
    if (!std::isnormal(divisor) || !std::isnormal(1 / divisor)) return;
    const ValueId inverse = Constant(1 / divisor, flow_.type_id(old));
    flow_.Replace(old, Binary(id, "stablehlo.multiply", flow_.node(id).operands[0], inverse));
  }

  Dataflow& flow_;
};

}  // namespace

void ReduceArithmetic(Dataflow& flow, PassContext&) { Algebra(flow).Run(); }

}  // namespace hespas::optimise
