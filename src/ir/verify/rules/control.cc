#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

std::string TypeList(Check& check, const std::vector<TypeId>& types) {
  std::string out;
  for (const TypeId type : types) out += (out.empty() ? "" : ", ") + check.text(type);
  return out;
}

bool AllCompatible(Check& check, const std::vector<TypeId>& a, const std::vector<TypeId>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Compatible(check.facts(), a[i], b[i])) return false;
  }
  return true;
}

std::vector<TypeId> ResultTypes(Check& check) {
  std::vector<TypeId> types;
  for (size_t i = 0; i < check.result_count(); ++i) types.push_back(check.result_type(i));
  return types;
}

std::vector<TypeId> OperandTypes(Check& check) {
  std::vector<TypeId> types;
  for (size_t i = 0; i < check.operand_count(); ++i) types.push_back(check.operand_type(i));
  return types;
}

bool CheckScalarOperand(Check& check) {
  if (!check.operand_ranked(0) || check.operand_rank(0) == 0) return true;
  return check.Fail(kTypeMismatch, "the selecting operand must be a scalar, not `{}`",
                    check.text(check.operand_type(0)));
}

bool CheckBranches(Check& check) {
  if (!CheckScalarOperand(check)) return false;
  const size_t count = check.region_count();
  if (count == 0) return check.Fail(kWrongCount, "at least one branch is needed");
  std::vector<TypeId> first;
  for (size_t i = 0; i < count; ++i) {
    const BlockId block = check.block(i);
    if (!block.valid()) return check.Fail(kBadRegion, "branch {} is empty", i);
    if (check.argument_count(block) != 0) {
      return check.Fail(kBadRegion, "branch {} must take no arguments, but takes {}", i, check.argument_count(block));
    }
    const auto returned = check.returned_types(block);
    if (!returned) return check.Fail(kBadRegion, "branch {} must end with a return", i);
    if (i == 0) first = *returned;
    if (!AllCompatible(check, first, *returned)) {
      return check.Fail(kBadRegion, "branches 0 and {} return different types: ({}) and ({})", i,
                        TypeList(check, first), TypeList(check, *returned));
    }
  }
  if (AllCompatible(check, first, ResultTypes(check))) return true;
  return check.Fail(kTypeMismatch, "branches return ({}), but the result types are ({})", TypeList(check, first),
                    TypeList(check, ResultTypes(check)));
}

bool CheckArguments(Check& check, BlockId block, std::string_view what) {
  std::vector<TypeId> arguments;
  for (size_t i = 0; i < check.argument_count(block); ++i) arguments.push_back(check.argument_type(block, i));
  if (AllCompatible(check, arguments, OperandTypes(check))) return true;
  return check.Fail(kBadRegion, "the {} takes ({}), but the operands are ({})", what, TypeList(check, arguments),
                    TypeList(check, OperandTypes(check)));
}

}  // namespace

bool CheckIf(Check& check) { return CheckBranches(check); }

bool CheckCase(Check& check) {
  if (check.operand(0).element.bits == 32) return CheckBranches(check);
  return check.Fail(kWrongType, "the index must be tensor<i32>, not `{}`", check.text(check.operand_type(0)));
}

bool CheckWhile(Check& check) {
  const BlockId condition = check.block(0);
  const BlockId body = check.block(1);
  if (!condition.valid() || !body.valid()) return check.Fail(kBadRegion, "condition and body must not be empty");
  if (!CheckArguments(check, condition, "condition") || !CheckArguments(check, body, "body")) return false;
  const auto decided = check.returned_types(condition);
  const auto next = check.returned_types(body);
  if (!decided || !next) return check.Fail(kBadRegion, "condition and body must end with a return");
  if (decided->size() != 1) {
    return check.Fail(kBadRegion, "the condition must return one value, but returns {}", decided->size());
  }
  const Type& type = check.module().types()[(*decided)[0]];
  if (!type.is_tensor() || !type.dims.empty() || check.facts()[(*decided)[0]].classes != kBool) {
    return check.Fail(kBadRegion, "the condition must return tensor<i1>, not `{}`", check.text((*decided)[0]));
  }
  if (!AllCompatible(check, *next, OperandTypes(check))) {
    return check.Fail(kBadRegion, "the body returns ({}), but the operands are ({})", TypeList(check, *next),
                      TypeList(check, OperandTypes(check)));
  }
  if (AllCompatible(check, OperandTypes(check), ResultTypes(check))) return true;
  return check.Fail(kTypeMismatch, "operands ({}) and results ({}) differ", TypeList(check, OperandTypes(check)),
                    TypeList(check, ResultTypes(check)));
}

bool CheckOptimizationBarrier(Check& check) {
  if (!check.ExpectResults(check.operand_count())) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.ExpectSameType(i, i)) return false;
  }
  return true;
}

bool CheckTuple(Check& check) {
  const Type& tuple = check.result();
  if (tuple.kind != TypeKind::kTuple) {
    return check.Fail(kWrongType, "the result must be a tuple, not `{}`", check.text(check.result_type()));
  }
  if (AllCompatible(check, OperandTypes(check), tuple.nested)) return true;
  return check.Fail(kTypeMismatch, "operands ({}) make another tuple than `{}`", TypeList(check, OperandTypes(check)),
                    check.text(check.result_type()));
}

bool CheckGetTupleElement(Check& check) {
  const auto index = check.Dimension("index");
  const Type& tuple = check.operand(0);
  if (!index || tuple.kind != TypeKind::kTuple) return false;
  if (*index >= static_cast<int64_t>(tuple.nested.size())) {
    return check.Fail(kBadDimension, "index {} is beyond the {} members of the tuple", *index, tuple.nested.size());
  }
  const TypeId member = tuple.nested[static_cast<size_t>(*index)];
  if (Compatible(check.facts(), member, check.result_type())) return true;
  return check.Fail(kTypeMismatch, "member {} has type `{}`, but the result type is `{}`", *index, check.text(member),
                    check.text(check.result_type()));
}

}  // namespace hespas::ir::verify
