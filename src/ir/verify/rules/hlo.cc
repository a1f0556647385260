// Rules of HLO where XLA accepts other forms than the StableHLO specification, and of ops that StableHLO lacks.
#include <algorithm>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/table.h"

namespace hespas::ir::verify {
namespace {

bool CheckUnary(Check& check) { return check.ExpectSameType(0); }

bool CheckSameShape(Check& check) { return !check.operand_ranked(0) || check.ExpectShape(check.operand(0).dims); }

// Broadcast dimensions keep their sizes; nothing is stretched.
bool CheckHloBroadcast(Check& check) {
  const auto mapping = check.Integers("broadcast_dimensions");
  if (!mapping || !CheckBroadcastInDim(check)) return false;
  for (size_t i = 0; i < mapping->size(); ++i) {
    const int64_t from = check.operand(0).dims[i];
    const int64_t to = check.result().dims[static_cast<size_t>((*mapping)[i])];
    if (CompatibleSizes(from, to)) continue;
    return check.Fail(kTypeMismatch, "dimension {} of the operand has size {}, but dimension {} of the result {}", i,
                      from, (*mapping)[i], to);
  }
  return true;
}

// Older text gives all start indices in one list.
bool IsListOfIndices(Check& check, size_t first) {
  return check.operand_count() == first + 1 && check.operand_ranked(first) && check.operand_rank(first) == 1;
}

bool CheckHloDynamicSlice(Check& check) {
  if (!IsListOfIndices(check, 1)) return CheckDynamicSlice(check);
  const auto sizes = check.Integers("slice_sizes");
  return sizes && check.ExpectShape(*sizes);
}

bool CheckHloDynamicUpdateSlice(Check& check) {
  return IsListOfIndices(check, 2) ? check.ExpectSameType(0) : CheckDynamicUpdateSlice(check);
}

// Both parameters are scalars; the shape is the result's own.
bool CheckHloRng(Check& check) {
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (check.operand_ranked(i) && check.operand_rank(i) != 0) {
      return check.Fail(kWrongType, "operand {} must be a scalar, not `{}`", i, check.text(check.operand_type(i)));
    }
  }
  return true;
}

// Packed layouts may round sizes up, so that only the default layout fixes the number of bits.
bool CheckBitcast(Check& check) {
  if (check.has("result_layout") || !check.operand_facts(0).static_shape || !check.result_facts().static_shape) {
    return true;
  }
  const auto bits = [](const Type& type) {
    return internal::SaturatingMultiply(type.element_count(), ElementBits(type.element));
  };
  if (bits(check.operand(0)) == bits(check.result())) return true;
  return check.Fail(kTypeMismatch, "`{}` and `{}` differ in size", check.text(check.operand_type(0)),
                    check.text(check.result_type()));
}

bool CheckFusion(Check& check) {
  const BlockId body = check.block(0);
  const auto returned = body.valid() ? check.returned_types(body) : std::nullopt;
  if (!returned) return check.Fail(kBadRegion, "the fused computation must end with a root");
  if (!check.ExpectResults(returned->size())) return false;
  for (size_t i = 0; i < returned->size(); ++i) {
    if (Compatible(check.facts(), (*returned)[i], check.result_type(i))) continue;
    return check.Fail(kTypeMismatch, "the fused computation returns `{}`, but result {} has type `{}`",
                      check.text((*returned)[i]), i, check.text(check.result_type(i)));
  }
  return true;
}

bool CheckTopK(Check& check) {
  const auto k = check.Integer("k");
  if (!k || !check.operand_ranked(0)) return false;
  Dimensions dims = check.operand(0).dims;
  if (dims.empty()) return check.Fail(kTypeMismatch, "scalars have no largest elements");
  if (*k < 0 || (dims.back() != kDynamic && *k > dims.back())) {
    return check.Fail(kBadDimension, "`k` is {}, but the last dimension has size {}", *k, dims.back());
  }
  dims.back() = *k;
  return check.ExpectElement(0) && check.ExpectShape(dims, 0) && check.ExpectShape(dims, 1);
}

// --- collectives -----------------------------------------------------------------------------------------------------

// Splitting and joining along one dimension keeps the shape; in the tuple form operand i becomes result i.
bool CheckHloAllToAll(Check& check) {
  if (!check.ExpectResults(check.operand_count()) || !CheckReplicaGroups(check, {})) return false;
  const int64_t members = GroupMembers(check);
  const auto split = check.OptionalInteger("split_dimension", -1);
  if (!split) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.ExpectSameType(i, i)) return false;
    if (*split < 0 || !check.operand_ranked(i)) continue;
    if (*split >= check.operand_rank(i)) {
      return check.Fail(kBadDimension, "the dimension {} is not in [0, {})", *split, check.operand_rank(i));
    }
    const int64_t size = check.operand(i).dims[static_cast<size_t>(*split)];
    if (members <= 1 || size == kDynamic || size % members == 0) continue;
    return check.Fail(kBadDimension, "size {} of dimension {} cannot be split among {} members", size, *split, members);
  }
  const bool one_each = *split < 0 && members > 0 && check.operand_count() != static_cast<size_t>(members);
  return !one_each || check.Fail(kWrongCount, "{} operands are given for groups of {}", check.operand_count(), members);
}

// Operand i becomes result i; with four operands the second is updated in place.
bool CheckHloPermute(Check& check) {
  if (!CheckPairs(check)) return false;
  if (check.result_count() == 1 && check.operand_count() == 4) return check.ExpectSameType(1);
  if (!check.ExpectResults(check.operand_count())) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.ExpectSameType(i, i)) return false;
  }
  return true;
}

bool CheckHloMap(Check& check) { return !check.has("dimensions") || CheckMap(check); }

// --- asynchronous start and done -------------------------------------------------------------------------------------

// Arguments of the started function against the operands.
bool CheckHloStart(Check& check) {
  const std::string_view* text = check.Require("called_computation");
  const OpId function = text ? check.module().FindSymbol(AsSymbol(*text)) : OpId();
  if (!function.valid()) return true;
  const BlockId body = check.module().body(function);
  if (check.argument_count(body) != check.operand_count()) {
    return check.Fail(kWrongCount, "{} operands are given to a computation with {} parameters", check.operand_count(),
                      check.argument_count(body));
  }
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (Compatible(check.facts(), check.argument_type(body, i), check.operand_type(i))) continue;
    return check.Fail(kTypeMismatch, "operand {} is `{}`, but the computation takes `{}`", i,
                      check.text(check.operand_type(i)), check.text(check.argument_type(body, i)));
  }
  return true;
}

// What a bundle yields: its second member, or the members of that one.
std::vector<TypeId> Yielded(const Module& module, const Type& bundle) {
  const Type& output = module.types()[bundle.nested[1]];
  return output.kind == TypeKind::kTuple ? output.nested : std::vector<TypeId>{bundle.nested[1]};
}

bool CheckHloDone(Check& check) {
  const Type& bundle = check.operand(0);
  if (bundle.kind != TypeKind::kAsyncBundle || bundle.nested.size() < 2) {
    return check.Fail(kWrongType, "the operand must be what an asynchronous start gives, not `{}`",
                      check.text(check.operand_type(0)));
  }
  const std::vector<TypeId> yielded = Yielded(check.module(), bundle);
  if (!check.ExpectResults(yielded.size())) return false;
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (Compatible(check.facts(), yielded[i], check.result_type(i))) continue;
    return check.Fail(kTypeMismatch, "the started op yields `{}`, but result {} has type `{}`", check.text(yielded[i]),
                      i, check.text(check.result_type(i)));
  }
  return true;
}

constexpr OpRule Row(Count operands, Count results, Rule rule, Count regions = kNone, uint8_t traits = kNoTrait) {
  return {.operands = operands, .results = results, .regions = regions, .traits = traits, .rule = rule};
}
constexpr OpRule kUnary = Row(kOne, kOne, CheckUnary);

struct HloRow {
  std::string_view name;
  OpRule rule;
};
// clang-format off
constexpr HloRow kRows[] = {
    {"func.call", Row(kAny, kAny, CheckCall, kNone, kAlways)}, {"mhlo.acos", kUnary}, {"mhlo.acosh", kUnary},
    {"mhlo.add_dependency", Row(kTwo, kOne, CheckUnary)}, {"mhlo.all_to_all", Row(kSome, kSome, CheckHloAllToAll)},
    {"mhlo.asin", kUnary}, {"mhlo.asinh", kUnary}, {"mhlo.async_done", Row(kOne, kAny, CheckHloDone)},
    {"mhlo.async_start", Row(kAny, kOne, CheckHloStart, kNone, kAlways)}, {"mhlo.atanh", kUnary},
    {"mhlo.bitcast", Row(kOne, kOne, CheckBitcast)}, {"mhlo.copy", kUnary}, {"mhlo.cosh", kUnary},
    {"mhlo.domain", kUnary}, {"mhlo.erf", kUnary}, {"mhlo.fusion", Row(kAny, kAny, CheckFusion, kOne)},
    {"mhlo.sinh", kUnary}, {"mhlo.stochastic_convert", Row(kTwo, kOne, CheckSameShape)},
    {"mhlo.topk", Row(kOne, kTwo, CheckTopK)}, {"stablehlo.all_gather", Row(kSome, kSome, CheckAllGather)},
    {"stablehlo.all_to_all", Row(kSome, kSome, CheckHloAllToAll)},
    {"stablehlo.broadcast_in_dim", Row(kOne, kOne, CheckHloBroadcast, kNone, kSameElement)},
    {"stablehlo.collective_permute", Row(kSome, kSome, CheckHloPermute)},
    {"stablehlo.custom_call", Row(kAny, kAny, nullptr, kAny)},
    {"stablehlo.dynamic_reshape", Row(kSome, kOne, nullptr)},
    {"stablehlo.dynamic_slice", Row(kSome, kOne, CheckHloDynamicSlice, kNone, kSameElementAsFirst)},
    {"stablehlo.dynamic_update_slice", Row({2, kMany}, kOne, CheckHloDynamicUpdateSlice)},
    {"stablehlo.map", Row(kSome, kOne, CheckHloMap, kOne, kSameShape)},
    {"stablehlo.optimization_barrier", Row(kAny, kAny, CheckOptimizationBarrier)},
    {"stablehlo.recv", Row(kOne, kAny, nullptr)},
    {"stablehlo.reduce_scatter", Row(kSome, kSome, CheckReduceScatter, kOne)},
    {"stablehlo.rng", Row(kTwo, kOne, CheckHloRng)}, {"stablehlo.send", Row(kSome, kAny, nullptr)},
    {"stablehlo.while", Row(kAny, kAny, CheckWhile, kTwo)},
};
// clang-format on

}  // namespace

const OpRule* FindHloRule(std::string_view name) {
  const auto* const found =
      std::lower_bound(std::begin(kRows), std::end(kRows), name,
                       [](const HloRow& row, std::string_view wanted) { return row.name < wanted; });
  return found != std::end(kRows) && found->name == name ? &found->rule : nullptr;
}

}  // namespace hespas::ir::verify
