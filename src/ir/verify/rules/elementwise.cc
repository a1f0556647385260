#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

bool SameComponent(const Element& a, const Element& b) { return a.kind == b.kind && a.bits == b.bits; }

// abs, real and imag of a complex tensor give its component type.
bool ExpectComponent(Check& check) {
  const Element& operand = check.operand(0).element;
  const Element& result = check.result().element;
  if (!operand.complex) return check.ExpectElement(0);
  if (!result.complex && SameComponent(operand, result)) return true;
  return check.Fail(kTypeMismatch, "operand `{}` implies a result of its component type, but the result type is `{}`",
                    check.text(check.operand_type(0)), check.text(check.result_type()));
}

int64_t BitsOf(Check& check, TypeId id) {
  const Quantisation* q = check.facts()[id].quantisation;
  const Element& element = check.module().types()[id].element;
  return q || element.kind != ElementKind::kQuantised ? ElementBits(element) : 0;
}

// Shapes of a bitcast between elements of different width: the narrower has one more, innermost dimension.
bool ExpectInnermost(Check& check, const Type& wide, const Type& narrow, int64_t wide_bits, int64_t narrow_bits) {
  if (narrow.dims.size() != wide.dims.size() + 1) {
    return check.Fail(kTypeMismatch, "the type of narrower elements must have one more dimension: `{}` and `{}`",
                      check.text(check.operand_type(0)), check.text(check.result_type()));
  }
  if (!std::equal(wide.dims.begin(), wide.dims.end(), narrow.dims.begin(), CompatibleSizes)) {
    return check.Fail(kTypeMismatch, "all but the innermost dimension must agree: `{}` and `{}`",
                      check.text(check.operand_type(0)), check.text(check.result_type()));
  }
  const int64_t last = narrow.dims.back();
  if (last != kDynamic && (wide_bits % narrow_bits != 0 || last != wide_bits / narrow_bits)) {
    return check.Fail(kTypeMismatch, "{} elements of {} bits do not fill one of {} bits", last, narrow_bits, wide_bits);
  }
  return true;
}

// Whether a value of elements `given` makes a constant of the result's elements: of the storage type for quantised
// ones.
bool MayHold(Check& check, std::string_view given) {
  const Quantisation* q = check.result_facts().quantisation;
  const Element& element = check.result().element;
  if (given.starts_with('!') || element.kind == ElementKind::kOpaque) return true;
  if (!q) return element.kind == ElementKind::kQuantised || given == ElementText(element);
  return given == fmt::format("i{}", q->bits) || (q->is_unsigned && given == fmt::format("ui{}", q->bits));
}

}  // namespace

bool CheckAbs(Check& check) { return ExpectComponent(check); }

bool CheckRealPart(Check& check) { return ExpectComponent(check); }

bool CheckComplex(Check& check) {
  const Element& part = check.operand(0).element;
  const Element& result = check.result().element;
  if ((part.kind == ElementKind::kF32 || part.kind == ElementKind::kF64) && SameComponent(part, result)) return true;
  return check.Fail(kTypeMismatch, "operands of `{}` do not make a result of `{}`", check.text(check.operand_type(0)),
                    check.text(check.result_type()));
}

bool CheckCompare(Check& check) {
  const std::string_view* direction = check.Require("comparison_direction");
  if (!direction) return false;
  constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  const std::string_view word = AsEnum(*direction);
  if (std::find(std::begin(kDirections), std::end(kDirections), word) != std::end(kDirections)) return true;
  return check.Report(kBadAttribute, fmt::format("`{}` is no comparison direction", word),
                      "use EQ, NE, GE, GT, LE or LT");
}

bool CheckSelect(Check& check) {
  if (!Compatible(check.facts(), check.operand_type(1), check.operand_type(2))) {
    return check.Fail(kTypeMismatch, "the two choices have types `{}` and `{}`", check.text(check.operand_type(1)),
                      check.text(check.operand_type(2)));
  }
  const bool scalar = check.operand_ranked(0) && check.operand_rank(0) == 0;
  if (!scalar && check.operand_ranked(0) && check.operand_ranked(1) &&
      !CompatibleShapes(check.operand(0), check.operand(1))) {
    return check.Fail(kTypeMismatch, "the predicate `{}` is neither a scalar nor shaped like `{}`",
                      check.text(check.operand_type(0)), check.text(check.operand_type(1)));
  }
  return check.ExpectSameType(1);
}

bool CheckClamp(Check& check) {
  for (const size_t bound : {0, 2}) {
    const bool scalar = check.operand_ranked(bound) && check.operand_rank(bound) == 0;
    if (scalar || !check.operand_ranked(bound) || !check.operand_ranked(1)) continue;
    if (!CompatibleShapes(check.operand(bound), check.operand(1))) {
      return check.Fail(kTypeMismatch, "the {} `{}` is neither a scalar nor shaped like `{}`",
                        bound == 0 ? "minimum" : "maximum", check.text(check.operand_type(bound)),
                        check.text(check.operand_type(1)));
    }
  }
  return check.ExpectSameType(1);
}

bool CheckReducePrecision(Check& check) {
  const auto exponent = check.Integer("exponent_bits");
  const auto mantissa = check.Integer("mantissa_bits");
  if (!exponent || !mantissa) return false;
  if (*exponent < 1 || *exponent > INT32_MAX) {
    return check.Fail(kBadAttribute, "`exponent_bits` must be a positive 32-bit integer, but is {}", *exponent);
  }
  if (*mantissa < 0 || *mantissa > INT32_MAX) {
    return check.Fail(kBadAttribute, "`mantissa_bits` must be a non-negative 32-bit integer, but is {}", *mantissa);
  }
  return true;
}

bool CheckBitcastConvert(Check& check) {
  const Type& from = check.operand(0);
  const Type& to = check.result();
  if (from.element.complex != to.element.complex) {
    return check.Fail(kTypeMismatch, "real and complex elements cannot be converted into each other: `{}` and `{}`",
                      check.text(check.operand_type(0)), check.text(check.result_type()));
  }
  const int64_t from_bits = BitsOf(check, check.operand_type(0));
  const int64_t to_bits = BitsOf(check, check.result_type());
  if (from_bits <= 0 || to_bits <= 0 || !check.operand_ranked(0) || !check.result_ranked()) return true;
  if (from_bits > to_bits) return ExpectInnermost(check, from, to, from_bits, to_bits);
  if (from_bits < to_bits) return ExpectInnermost(check, to, from, to_bits, from_bits);
  if (CompatibleShapes(from, to)) return true;
  return check.Fail(kTypeMismatch, "elements of equal width need equal shapes, but they are `{}` and `{}`",
                    check.text(check.operand_type(0)), check.text(check.result_type()));
}

bool CheckConstant(Check& check) {
  const std::string_view* value = check.Require("value");
  if (!value) return false;
  const auto dense = AsDense(*value);
  if (!dense || dense->type.empty()) return true;
  const auto shape = AsShape(dense->type);
  if (!shape) return true;
  if (std::find(shape->dims.begin(), shape->dims.end(), kDynamic) != shape->dims.end()) {
    return check.Fail(kBadAttribute, "the value's type `{}` must have a static shape", dense->type);
  }
  const Type& type = check.result();
  const bool same_element = MayHold(check, shape->element.substr(0, shape->element.find(',')));
  if (same_element &&
      std::equal(shape->dims.begin(), shape->dims.end(), type.dims.begin(), type.dims.end(), CompatibleSizes)) {
    return true;
  }
  return check.Fail(kTypeMismatch, "the value has type `{}`, but the result type is `{}`", dense->type,
                    check.text(check.result_type()));
}

bool CheckIota(Check& check) {
  if (!check.result_ranked()) return true;
  if (check.result_rank() == 0) return check.Fail(kTypeMismatch, "the result must have a dimension to count along");
  return check.Dimension("iota_dimension", check.result_rank()).has_value();
}

bool CheckDynamicIota(Check& check) {
  if (!CheckIota(check) || !check.ExpectRank(0, 1)) return false;
  const Type& shape = check.operand(0);
  if (check.operand_ranked(0) && shape.dims.size() == 1 && !CompatibleSizes(shape.dims[0], check.result_rank())) {
    return check.Fail(kTypeMismatch, "a shape of {} sizes does not fit a result of rank {}", shape.dims[0],
                      check.result_rank());
  }
  const auto sizes = check.ConstantOperand(0);
  return !sizes || check.ExpectShape(*sizes);
}

bool CheckResultAccuracy(Check& check) {
  const std::string_view* accuracy = check.attribute("result_accuracy");
  if (!accuracy) return true;
  const std::vector<Entry> entries = Entries(*accuracy);
  const auto mode = FindEntry(entries, "mode");
  if (!mode || AsEnum(*mode) == "TOLERANCE") return true;
  for (const std::string_view tolerance : {"atol", "rtol", "ulps"}) {
    const auto text = FindEntry(entries, tolerance);
    if (!text || AsFloat(*text).value_or(0) == 0) continue;
    return check.ReportAt(*accuracy, kBadAttribute,
                          fmt::format("`{}` is {}, but mode {} allows no tolerance", tolerance, *text, AsEnum(*mode)),
                          "use mode TOLERANCE, or leave the tolerances out");
  }
  return true;
}

}  // namespace hespas::ir::verify
