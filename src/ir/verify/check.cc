#include "ir/verify/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "ir/attributes/attribute.h"

namespace hespas::ir::verify {

std::string ShapeList(std::span<const int64_t> dims) {
  std::vector<std::string> texts;
  for (const int64_t d : dims) texts.push_back(d == kDynamic ? "?" : fmt::format("{}", d));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

bool Check::in_nested_module() const {
  for (OpId op = module_.parent_op(id_); op.valid(); op = module_.parent_op(op)) {
    if (module_.kind(op) == OpKind::kModule) return op != module_.root();
  }
  return false;
}

bool Check::Report(const DiagnosticKind& kind, std::string message, std::string help) {
  if (hlo() && !reported_.insert(op_->source).second) return false;
  const bool shown = diagnostics_.wants_more();
  if (help.empty() && name().starts_with("stablehlo.")) {
    help = fmt::format("the StableHLO specification lists the constraints of `{}`", name().substr(10));
  }
  diagnostics_.Error(kind, fmt::format("`{}`: {}", name(), message), shown ? module_.location(id_) : Location(),
                     std::move(help));
  return false;
}

bool Check::ReportAt(std::string_view where, const DiagnosticKind& kind, std::string message, std::string help) {
  const std::string_view source = module_.source();
  const bool inside =
      !std::less<>()(where.data(), source.data()) && std::less<>()(where.data(), source.data() + source.size());
  if (!inside || !diagnostics_.wants_more()) return Report(kind, std::move(message), std::move(help));
  diagnostics_.Error(kind, fmt::format("`{}`: {}", name(), message),
                     module_.LocationAt(static_cast<size_t>(where.data() - source.data())), std::move(help));
  return false;
}

const std::string_view* Check::Require(std::string_view attribute_name) {
  const std::string_view* found = attribute(attribute_name);
  if (!found && !loose()) {
    Report(kBadAttribute, fmt::format("attribute `{}` is missing", attribute_name),
           fmt::format("add `{} = ...` to the op", attribute_name));
  }
  return found;
}

std::optional<int64_t> Check::Integer(std::string_view attribute_name) {
  const std::string_view* found = Require(attribute_name);
  if (!found) return std::nullopt;
  const auto value = AsInteger(*found);
  if (!value) Fail(kBadAttribute, "attribute `{}` must be an integer, not `{}`", attribute_name, found->substr(0, 60));
  return value;
}

std::optional<int64_t> Check::Dimension(std::string_view attribute_name, std::optional<int64_t> rank) {
  const auto value = Integer(attribute_name);
  if (!value) return std::nullopt;
  if (*value < 0) {
    Fail(kBadAttribute, "attribute `{}` must not be negative, but is {}", attribute_name, *value);
    return std::nullopt;
  }
  if (rank && *value >= *rank) {
    Fail(kBadDimension, "`{}` is {}, but the dimensions go from 0 to {}", attribute_name, *value, *rank - 1);
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<int64_t>> Check::Integers(std::string_view attribute_name) {
  const std::string_view* found = Require(attribute_name);
  if (!found) return std::nullopt;
  auto values = AsIntegers(*found);
  if (!values) {
    Fail(kBadAttribute, "attribute `{}` must be a list of integers, not `{}`", attribute_name, found->substr(0, 60));
  }
  return values;
}

std::optional<std::vector<int64_t>> Check::OptionalIntegers(std::string_view attribute_name) {
  if (!has(attribute_name)) return std::vector<int64_t>{};
  return Integers(attribute_name);
}

std::optional<int64_t> Check::OptionalInteger(std::string_view attribute_name, int64_t otherwise) {
  if (!has(attribute_name)) return otherwise;
  return Integer(attribute_name);
}

bool Check::ExpectShape(std::span<const int64_t> dims, size_t result_index) {
  const Type& type = result(result_index);
  if (!result_ranked(result_index)) return true;
  if (std::equal(dims.begin(), dims.end(), type.dims.begin(), type.dims.end(), CompatibleSizes)) return true;
  return Report(kTypeMismatch,
                fmt::format("the operands imply a result of shape {}, but the result type is `{}`", ShapeList(dims),
                            text(result_type(result_index))),
                "correct the result type or the attributes");
}

bool Check::ExpectElement(size_t operand_index, size_t result_index) {
  if (CompatibleElements(facts_, operand_type(operand_index), result_type(result_index))) return true;
  return Fail(kTypeMismatch, "element types of operand `{}` and result `{}` differ", text(operand_type(operand_index)),
              text(result_type(result_index)));
}

bool Check::ExpectSameType(size_t operand_index, size_t result_index) {
  if (Compatible(facts_, operand_type(operand_index), result_type(result_index))) return true;
  return Fail(kTypeMismatch, "operand {} implies a result of type `{}`, but the result type is `{}`", operand_index,
              text(operand_type(operand_index)), text(result_type(result_index)));
}

bool Check::ExpectDimensions(std::span<const int64_t> dims, int64_t rank, std::string_view what) {
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t d : dims) {
    if (d < 0 || d >= rank) {
      return Fail(kBadDimension, "`{}` names dimension {}, which is not in [0, {})", what, d, rank);
    }
    if (seen[static_cast<size_t>(d)]) return Fail(kBadDimension, "`{}` names dimension {} twice", what, d);
    seen[static_cast<size_t>(d)] = true;
  }
  return true;
}

bool Check::ExpectSound(TypeId type) {
  const TypeFacts& facts = facts_[type];
  const std::string_view flaw = facts.flaw.empty() ? facts.misfit : facts.flaw;
  return flaw.empty() || Report(kBadQuantisation, fmt::format("`{}` is no quantised type: {}", text(type), flaw),
                                "correct the storage range, scales, zero points or dimension of the type");
}

bool Check::ExpectRank(size_t operand_index, int64_t rank) {
  if (!operand_ranked(operand_index) || operand_rank(operand_index) == rank) return true;
  const std::string_view what = rank == 0 ? "a scalar" : rank == 1 ? "a list" : "a matrix";
  return Fail(kWrongType, "operand {} must be {}, not `{}`", operand_index, what, text(operand_type(operand_index)));
}

bool Check::ExpectResults(size_t count) {
  if (result_count() == count) return true;
  return Fail(kWrongCount, "{} results are needed, but {} are given", count, result_count());
}

size_t Check::region_count() const {
  size_t count = 0;
  for (RegionId r = op_->first_region; r.valid(); r = module_.region(r).next) ++count;
  return count;
}

std::optional<std::vector<TypeId>> Check::returned_types(BlockId block_id) const {
  const std::vector<OpId>& ops = module_.block(block_id).ops;
  if (ops.empty() || !IsTerminator(module_.kind(ops.back()))) return std::nullopt;
  std::vector<TypeId> types;
  for (const ValueId value : module_.operands(ops.back())) types.push_back(module_.type_id(value));
  return types;
}

std::optional<std::vector<int64_t>> Check::ConstantOperand(size_t i) const {
  const OpId defining = module_.defining_op(operands()[i]);
  if (!defining.valid() || module_.kind(defining) != OpKind::kConstant) return std::nullopt;
  const std::string_view* value = module_.attribute(defining, "value");
  return value ? AsIntegers(*value) : std::nullopt;
}

}  // namespace hespas::ir::verify
