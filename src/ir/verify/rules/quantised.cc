#include <algorithm>

#include "ir/attributes/op_attributes.h"
#include "ir/verify/index_dims.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

bool SameStorage(const Quantisation& a, const Quantisation& b) {
  return a.is_unsigned == b.is_unsigned && a.bits == b.bits;
}

bool SameScales(Check& check, const Quantisation& from, const Quantisation& to) {
  if (from.scales == to.scales && from.zero_points == to.zero_points) return true;
  return check.Fail(kBadQuantisation, "operand `{}` and result `{}` must have the same scales and zero points",
                    check.text(check.operand_type(0)), check.text(check.result_type()));
}

bool FailMapping(Check& check, int64_t from, int64_t to) {
  return check.Fail(kBadQuantisation, "quantisation along dimension {} of the operand does not become {} of the result",
                    from, to);
}

bool CheckBroadcastAxis(Check& check, const Quantisation& from, const Quantisation& to) {
  const auto mapping = check.Integers("broadcast_dimensions");
  if (!mapping || from.dimension >= static_cast<int64_t>(mapping->size())) return false;
  const size_t axis = static_cast<size_t>(from.dimension);
  if ((*mapping)[axis] != to.dimension) return FailMapping(check, from.dimension, to.dimension);
  if (check.operand(0).dims[axis] != 1 || from.scales.empty()) return SameScales(check, from, to);
  Quantisation broadcast = from;
  broadcast.scales.assign(to.scales.size(), from.scales[0]);
  broadcast.zero_points.assign(to.zero_points.size(), from.zero_points[0]);
  return SameScales(check, broadcast, to);
}

bool CheckTransposeAxis(Check& check, const Quantisation& from, const Quantisation& to) {
  const auto permutation = check.Integers("permutation");
  if (!permutation || to.dimension >= static_cast<int64_t>(permutation->size())) return false;
  if ((*permutation)[static_cast<size_t>(to.dimension)] != from.dimension) {
    return FailMapping(check, from.dimension, to.dimension);
  }
  return SameScales(check, from, to);
}

int64_t SizeBefore(const Type& type, int64_t axis) {
  Type head;
  head.dims.assign(type.dims.begin(), type.dims.begin() + axis);
  return head.element_count();
}

bool CheckReshapeAxis(Check& check, const Quantisation& from, const Quantisation& to) {
  const Type& operand = check.operand(0);
  const Type& result = check.result();
  if (from.dimension >= check.operand_rank(0) || to.dimension >= check.result_rank()) return true;
  if (!CompatibleSizes(operand.dims[static_cast<size_t>(from.dimension)],
                       result.dims[static_cast<size_t>(to.dimension)]) ||
      SizeBefore(operand, from.dimension) != SizeBefore(result, to.dimension)) {
    return FailMapping(check, from.dimension, to.dimension);
  }
  return SameScales(check, from, to);
}

// The three types of a contraction.
struct Sides {
  const Quantisation* lhs;
  const Quantisation* rhs;
  const Quantisation* result;
};

bool FailSides(Check& check, std::string_view what) {
  return check.Fail(kBadQuantisation, "{}: `{}`, `{}` and `{}`", what, check.text(check.operand_type(0)),
                    check.text(check.operand_type(1)), check.text(check.result_type()));
}

bool CheckElementsOfSides(Check& check, const Sides& sides) {
  if (sides.lhs) {
    if (!SameStorage(*sides.lhs, *sides.rhs)) return FailSides(check, "operands must be stored in one type");
    if (sides.lhs->expressed != sides.rhs->expressed || sides.rhs->expressed != sides.result->expressed) {
      return FailSides(check, "operands and result must express one type");
    }
    if (!sides.rhs->per_axis && sides.result->per_axis) {
      return FailSides(check, "the result is quantised per axis, but the right operand is not");
    }
    return true;
  }
  const std::string lhs = ElementText(check.operand(0).element);
  if (lhs == sides.rhs->expressed && ElementText(check.result().element) == lhs) return true;
  return FailSides(check, "the right operand must express the elements of the others");
}

bool CheckAxisOfRight(Check& check, const Sides& sides) {
  if (check.kind() == OpKind::kConvolution || check.kind() == OpKind::kDynamicConv) {
    const auto dims = ConvolutionDimensionsOf(check.module(), check.id());
    if (dims && sides.rhs->per_axis && sides.rhs->dimension != dims->kernel_output_feature) {
      return FailSides(check, "the kernel must be quantised along its output features");
    }
    if (dims && sides.result && sides.result->per_axis && sides.result->dimension != dims->output_feature) {
      return FailSides(check, "the result must be quantised along its features");
    }
    return true;
  }
  const auto dims = DotDimensionsOf(check.module(), check.id());
  if (!dims || !sides.rhs->per_axis || !Contains(dims->rhs_contracting, sides.rhs->dimension)) return true;
  return FailSides(check, "the right operand must not be quantised along a contracting dimension");
}

}  // namespace

bool CheckAdd(Check& check) {
  const Quantisation* lhs = check.operand_facts(0).quantisation;
  const Quantisation* rhs = check.operand_facts(1).quantisation;
  const Quantisation* result = check.result_facts().quantisation;
  if (!lhs && !rhs && !result) return true;
  if (!lhs || !rhs || !result) return FailSides(check, "either all or none of the types must be quantised");
  if (lhs->expressed != rhs->expressed || lhs->expressed != result->expressed) {
    return FailSides(check, "operands and result must express one type");
  }
  if (!SameStorage(*lhs, *rhs) || !SameStorage(*lhs, *result)) {
    return FailSides(check, "operands and result must be stored in one type");
  }
  if (result->per_axis != (lhs->per_axis || rhs->per_axis)) {
    return FailSides(check, "the result must be quantised per axis where an operand is, and only there");
  }
  for (const Quantisation* operand : {lhs, rhs}) {
    if (operand->per_axis && operand->dimension != result->dimension) {
      return FailSides(check, "operands and result must be quantised along one dimension");
    }
  }
  return true;
}

bool CheckQuantisedMove(Check& check) {
  const Quantisation* from = check.operand_facts(0).quantisation;
  const Quantisation* to = check.result_facts().quantisation;
  if (!from || !to) return true;
  if (from->per_axis != to->per_axis || !SameStorage(*from, *to) || from->expressed != to->expressed) {
    return check.Fail(kBadQuantisation, "operand `{}` and result `{}` must be quantised alike",
                      check.text(check.operand_type(0)), check.text(check.result_type()));
  }
  if (!from->per_axis) return SameScales(check, *from, *to);
  if (check.kind() == OpKind::kTranspose) return CheckTransposeAxis(check, *from, *to);
  if (check.kind() == OpKind::kReshape || check.kind() == OpKind::kDynamicReshape) {
    return CheckReshapeAxis(check, *from, *to);
  }
  return CheckBroadcastAxis(check, *from, *to);
}

bool CheckQuantisedContraction(Check& check) {
  const Sides sides{check.operand_facts(0).quantisation, check.operand_facts(1).quantisation,
                    check.result_facts().quantisation};
  if (!sides.lhs && !sides.rhs && !sides.result) return true;
  if (!sides.rhs || (sides.lhs != nullptr) != (sides.result != nullptr)) {
    return FailSides(check, "the right operand must be quantised, and the left one like the result");
  }
  if (!CheckAxisOfRight(check, sides) || !CheckElementsOfSides(check, sides)) return false;
  if (check.kind() != OpKind::kDotGeneral) return true;
  const auto& zeros = sides.rhs->zero_points;
  if (std::all_of(zeros.begin(), zeros.end(), [](int64_t zero) { return zero == 0; })) return true;
  return FailSides(check, "zero points of the right operand must be 0");
}

bool CheckQuantise(Check& check) {
  const bool quantise = check.kind() == OpKind::kUniformQuantize;
  const Quantisation* q = quantise ? check.result_facts().quantisation : check.operand_facts(0).quantisation;
  const Quantisation* other = quantise ? check.operand_facts(0).quantisation : check.result_facts().quantisation;
  const Type& plain = quantise ? check.operand(0) : check.result();
  if (!q) return true;
  const std::string element = other ? std::string(other->expressed) : ElementText(plain.element);
  if (element == q->expressed) return true;
  return check.Fail(kTypeMismatch, "`{}` does not express elements of `{}`",
                    check.text(quantise ? check.result_type() : check.operand_type(0)),
                    check.text(quantise ? check.operand_type(0) : check.result_type()));
}

}  // namespace hespas::ir::verify
