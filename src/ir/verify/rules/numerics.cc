#include <algorithm>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Whether the last sizes of `dims` agree with `tail`.
bool EndsWith(const std::vector<int64_t>& dims, std::span<const int64_t> tail) {
  return tail.size() <= dims.size() && std::equal(tail.rbegin(), tail.rend(), dims.rbegin(), CompatibleSizes);
}

bool CheckRealTransform(Check& check, const std::vector<int64_t>& length) {
  const Type& operand = check.operand(0);
  if (operand.element.complex ||
      (operand.element.kind != ElementKind::kF32 && operand.element.kind != ElementKind::kF64)) {
    return check.Fail(kWrongType, "RFFT takes f32 or f64, not `{}`", check.text(check.operand_type(0)));
  }
  if (!EndsWith(operand.dims, length)) {
    return check.Fail(kBadDimension, "the innermost dimensions of `{}` differ from `fft_length` {}",
                      check.text(check.operand_type(0)), ShapeList(length));
  }
  std::vector<int64_t> dims = operand.dims;
  if (dims.back() != 0 && length.back() != 0) dims.back() = length.back() / 2 + 1;
  const Element& result = check.result().element;
  if (!result.complex || result.kind != operand.element.kind) {
    return check.Fail(kTypeMismatch, "RFFT gives complex elements, not `{}`", check.text(check.result_type()));
  }
  return check.ExpectShape(dims);
}

bool CheckInverseRealTransform(Check& check, const std::vector<int64_t>& length) {
  std::vector<int64_t> dims = check.operand(0).dims;
  std::vector<int64_t> wanted = length;
  if (wanted.back() != 0) wanted.back() = wanted.back() / 2 + 1;
  if (!EndsWith(dims, wanted)) {
    return check.Fail(kBadDimension, "the innermost dimensions of `{}` must be {} for `fft_length` {}",
                      check.text(check.operand_type(0)), ShapeList(wanted), ShapeList(length));
  }
  dims.back() = length.back();
  const Element& result = check.result().element;
  if (result.complex || result.kind != check.operand(0).element.kind) {
    return check.Fail(kTypeMismatch, "IRFFT gives real elements, not `{}`", check.text(check.result_type()));
  }
  return check.ExpectShape(dims);
}

// At least two dimensions, the two innermost equal.
bool ExpectSquare(Check& check) {
  const Type& a = check.operand(0);
  if (a.dims.size() < 2) {
    return check.Fail(kTypeMismatch, "operand 0 must have two or more dimensions, not `{}`",
                      check.text(check.operand_type(0)));
  }
  if (CompatibleSizes(a.dims[a.dims.size() - 1], a.dims[a.dims.size() - 2])) return true;
  return check.Fail(kTypeMismatch, "the two innermost dimensions of `{}` must be equal",
                    check.text(check.operand_type(0)));
}

// Operands `multi` share a shape; operands `single` are lists as long as the feature dimension.
bool CheckBatchNorm(Check& check, std::initializer_list<size_t> multi, std::initializer_list<size_t> single) {
  const auto index = check.Dimension("feature_index");
  if (!index || !check.operand_ranked(0)) return false;
  if (*index >= check.operand_rank(0)) {
    return check.Fail(kBadDimension, "`feature_index` {} is not in [0, {})", *index, check.operand_rank(0));
  }
  const std::string_view* epsilon = check.attribute("epsilon");
  if (epsilon && !AsFloat(*epsilon)) {
    return check.Fail(kBadAttribute, "`epsilon` must be a number, not `{}`", epsilon->substr(0, 60));
  }
  for (const size_t i : multi) {
    if (!check.operand_ranked(i) || CompatibleShapes(check.operand(0), check.operand(i))) continue;
    return check.Fail(kTypeMismatch, "operands 0 and {} have different shapes", i);
  }
  const int64_t features = check.operand(0).dims[static_cast<size_t>(*index)];
  for (const size_t i : single) {
    if (!check.operand_ranked(i)) continue;
    if (check.operand_rank(i) != 1) {
      return check.Fail(kWrongType, "operand {} must have one dimension, not `{}`", i,
                        check.text(check.operand_type(i)));
    }
    if (CompatibleSizes(check.operand(i).dims[0], features)) continue;
    return check.Fail(kTypeMismatch, "operand {} has {} entries, but there are {} features", i,
                      check.operand(i).dims[0], features);
  }
  return check.ExpectShape(check.operand(0).dims);
}

bool CheckFeatureResults(Check& check) {
  const int64_t index = check.Integer("feature_index").value_or(0);
  const int64_t features = check.operand(0).dims[static_cast<size_t>(index)];
  return check.ExpectShape(std::span(&features, 1), 1) && check.ExpectShape(std::span(&features, 1), 2);
}

}  // namespace

bool CheckFft(Check& check) {
  const std::string_view* type = check.Require("fft_type");
  const auto length = check.Integers("fft_length");
  if (!type || !length || !check.operand_ranked(0)) return false;
  if (length->empty() || length->size() > 3) {
    return check.Fail(kBadAttribute, "`fft_length` must have 1 to 3 entries, but has {}", length->size());
  }
  const std::string_view kind = AsEnum(*type);
  if (kind == "RFFT" && (check.operand(0).element.kind != ElementKind::kF32 || check.operand(0).element.complex)) {
    if (check.operand(0).element.kind != ElementKind::kF64 || check.operand(0).element.complex) {
      return check.Fail(kWrongType, "RFFT takes f32 or f64, not `{}`", check.text(check.operand_type(0)));
    }
  }
  if (kind != "RFFT" && !check.operand(0).element.complex) {
    return check.Fail(kWrongType, "{} takes complex elements, not `{}`", kind, check.text(check.operand_type(0)));
  }
  if (check.operand_rank(0) < static_cast<int64_t>(length->size())) {
    return check.Fail(kBadDimension, "`{}` has fewer dimensions than `fft_length` {}",
                      check.text(check.operand_type(0)), ShapeList(*length));
  }
  if (kind == "RFFT") return CheckRealTransform(check, *length);
  if (kind == "IRFFT") return CheckInverseRealTransform(check, *length);
  return check.ExpectSameType(0);
}

bool CheckCholesky(Check& check) {
  return !check.operand_ranked(0) || (ExpectSquare(check) && check.ExpectSameType(0));
}

bool CheckTriangularSolve(Check& check) {
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  if (!ExpectSquare(check)) return false;
  const Type& a = check.operand(0);
  const Type& b = check.operand(1);
  if (a.dims.size() != b.dims.size()) {
    return check.Fail(kTypeMismatch, "operands `{}` and `{}` differ in rank", check.text(check.operand_type(0)),
                      check.text(check.operand_type(1)));
  }
  const std::string_view* left = check.hlo() ? check.attribute("left_side") : check.Require("left_side");
  if (!left && !check.hlo()) return false;
  const bool is_left = left && AsBool(*left).value_or(true);
  const size_t shared = b.dims.size() - (is_left ? 2 : 1);
  if (!CompatibleSizes(a.dims.back(), b.dims[shared])) {
    return check.Fail(kTypeMismatch, "the shared dimension of `{}` and `{}` differs", check.text(check.operand_type(0)),
                      check.text(check.operand_type(1)));
  }
  if (!std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin(), b.dims.end() - 2, CompatibleSizes)) {
    return check.Fail(kTypeMismatch, "batch dimensions of `{}` and `{}` differ", check.text(check.operand_type(0)),
                      check.text(check.operand_type(1)));
  }
  const std::string_view* transpose = check.attribute("transpose_a");
  if (transpose && AsEnum(*transpose) == "TRANSPOSE_INVALID") {
    return check.Report(kBadAttribute, "`transpose_a` is TRANSPOSE_INVALID", "use NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return check.ExpectSameType(1);
}

bool CheckBatchNormTraining(Check& check) { return CheckBatchNorm(check, {}, {1, 2}) && CheckFeatureResults(check); }

bool CheckBatchNormInference(Check& check) { return CheckBatchNorm(check, {}, {1, 2, 3, 4}); }

bool CheckBatchNormGrad(Check& check) { return CheckBatchNorm(check, {4}, {1, 2, 3}) && CheckFeatureResults(check); }

bool CheckRng(Check& check) {
  for (size_t i = 0; i < 2; ++i) {
    if (check.operand_ranked(i) && check.operand_rank(i) != 0) {
      return check.Fail(kWrongType, "operand {} must be a scalar, not `{}`", i, check.text(check.operand_type(i)));
    }
    if (!check.ExpectElement(i)) return false;
  }
  const std::string_view* distribution = check.attribute("rng_distribution");
  if (distribution && AsEnum(*distribution) == "NORMAL" && !(check.operand_facts(0).classes & kFloat)) {
    return check.Fail(kWrongType, "a normal distribution gives floats, not `{}`", check.text(check.result_type()));
  }
  const Type& shape = check.operand(2);
  if (!check.operand_ranked(2) || shape.dims.size() != 1 || shape.dims[0] == kDynamic) {
    return check.Fail(kWrongType, "the shape must be a list of known length, not `{}`",
                      check.text(check.operand_type(2)));
  }
  if (check.result_ranked() && shape.dims[0] != check.result_rank()) {
    return check.Fail(kTypeMismatch, "a shape of {} sizes does not fit the result `{}`", shape.dims[0],
                      check.text(check.result_type()));
  }
  const auto sizes = check.ConstantOperand(2);
  return !sizes || check.ExpectShape(*sizes);
}

// The state holds words of 64 bits: a key, and a counter.
bool CheckRngBitGenerator(Check& check) {
  const std::string_view* text = check.attribute("rng_algorithm");
  const std::string_view algorithm = text ? AsEnum(*text) : std::string_view();
  const Type& state = check.operand(0);
  const bool words = check.operand_facts(0).static_shape && (check.operand_facts(0).classes & kInteger);
  if (words && (algorithm == "THREE_FRY" || algorithm == "PHILOX")) {
    const int64_t bits = internal::SaturatingMultiply(state.element_count(), ElementBits(state.element));
    if (bits != 128 && (bits != 192 || algorithm == "THREE_FRY")) {
      return check.Report(kTypeMismatch,
                          fmt::format("`{}` is no state of {}", check.text(check.operand_type(0)), algorithm),
                          algorithm == "PHILOX" ? "give 2 or 3 values of ui64" : "give 2 values of ui64");
    }
  }
  return check.ExpectSameType(0, 0);
}

}  // namespace hespas::ir::verify
