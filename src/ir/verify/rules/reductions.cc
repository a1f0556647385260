#include <algorithm>

#include "ir/verify/rules.h"
#include "ir/verify/window.h"

namespace hespas::ir::verify {
namespace {

bool IsTensor(const Type& type) { return type.kind == TypeKind::kTensor || type.kind == TypeKind::kUnrankedTensor; }

const Type& TypeAt(Check& check, TypeId id) { return check.module().types()[id]; }

// Argument dimensions must appear, in order, among those allowed.
bool Subsequence(const std::vector<int64_t>& dims, const std::vector<int64_t>& allowed) {
  size_t next = 0;
  for (const int64_t d : dims) {
    while (next < allowed.size() && !CompatibleSizes(d, allowed[next])) ++next;
    if (next++ >= allowed.size()) return false;
  }
  return true;
}

// What the body of a reduction returns for input `i`, against arguments, input and initial value.
bool CheckAccumulator(Check& check, const Reducer& reducer, size_t i, TypeId accumulator) {
  const size_t count = reducer.inputs.size();
  for (const size_t argument : {i, count + i}) {
    const TypeId type = check.argument_type(reducer.block, argument);
    if (Compatible(check.facts(), accumulator, type)) continue;
    return check.Fail(kBadRegion, "argument {} of the body is `{}`, but the body returns `{}` for it", argument,
                      check.text(type), check.text(accumulator));
  }
  if (!Promotable(check.facts(), reducer.inits[i], accumulator)) {
    return check.Fail(kBadRegion, "the body returns `{}`, to which the initial value `{}` cannot be promoted",
                      check.text(accumulator), check.text(reducer.inits[i]));
  }
  const Type& init = TypeAt(check, reducer.inits[i]);
  const Type& result = TypeAt(check, accumulator);
  const bool same = reducer.scalar_inits ? result.dims.empty() : CompatibleShapes(init, result);
  if (init.is_tensor() && result.is_tensor() && !same) {
    return check.Fail(kBadRegion, "the body returns `{}`, but it reduces {} `{}`", check.text(accumulator),
                      reducer.scalar_inits ? "elements of" : "values like", check.text(reducer.inits[i]));
  }
  const TypeId argument = check.argument_type(reducer.block, count + i);
  if (!Promotable(check.facts(), reducer.inputs[i], argument)) {
    return check.Fail(kBadRegion, "the input `{}` cannot be promoted to the body's argument `{}`",
                      check.text(reducer.inputs[i]), check.text(argument));
  }
  const Type& type = TypeAt(check, argument);
  if (!type.is_tensor()) return true;
  if (type.dims.size() > reducer.allowed.size() || !Subsequence(type.dims, reducer.allowed)) {
    return check.Fail(kBadRegion, "the body's argument {} has the shape of `{}`, but at most {} is possible", count + i,
                      check.text(argument), ShapeList(reducer.allowed));
  }
  return true;
}

// Operands are inputs, then as many initial values.
bool SplitOperands(Check& check, Reducer& reducer) {
  const size_t count = check.operand_count() / 2;
  if (count == 0) return check.Fail(kWrongCount, "inputs and initial values are needed");
  for (size_t i = 0; i < count; ++i) {
    reducer.inputs.push_back(check.operand_type(i));
    reducer.inits.push_back(check.operand_type(check.operand_count() - count + i));
  }
  reducer.block = check.block(0);
  if (!reducer.block.valid()) return check.Fail(kBadRegion, "the body is empty");
  return true;
}

bool CheckInputShapes(Check& check, const Reducer& reducer) {
  const Type& first = TypeAt(check, reducer.inputs[0]);
  for (size_t i = 1; i < reducer.inputs.size(); ++i) {
    const Type& other = TypeAt(check, reducer.inputs[i]);
    if (!first.is_tensor() || !other.is_tensor() || CompatibleShapes(first, other)) continue;
    return check.Fail(kTypeMismatch, "inputs 0 and {} have different shapes: `{}` and `{}`", i,
                      check.text(reducer.inputs[0]), check.text(reducer.inputs[i]));
  }
  return true;
}

// One result for each input: the shape found, elements as the body returns them.
bool CheckResults(Check& check, const Reducer& reducer, const Dimensions& shape) {
  if (check.result_count() != reducer.inputs.size()) {
    return check.Fail(kWrongCount, "{} inputs need as many results, but there are {}", reducer.inputs.size(),
                      check.result_count());
  }
  const auto returned = check.returned_types(reducer.block);
  for (size_t i = 0; i < check.result_count(); ++i) {
    if (!check.ExpectShape(shape, i)) return false;
    if (returned && !CompatibleElements(check.facts(), (*returned)[i], check.result_type(i))) {
      return check.Fail(kTypeMismatch, "the body returns `{}`, but result {} has type `{}`", check.text((*returned)[i]),
                        i, check.text(check.result_type(i)));
    }
  }
  return true;
}

// The first region of select_and_scatter compares two elements.
bool CheckSelectRegion(Check& check) {
  const BlockId block = check.block(0);
  if (!block.valid()) return check.Fail(kBadRegion, "the select region is empty");
  if (check.argument_count(block) != 2) {
    return check.Fail(kBadRegion, "the select region must take 2 arguments, but takes {}", check.argument_count(block));
  }
  for (size_t i = 0; i < 2; ++i) {
    const TypeId type = check.argument_type(block, i);
    const Type& argument = TypeAt(check, type);
    if (argument.is_tensor() && argument.dims.empty() &&
        CompatibleElements(check.facts(), type, check.operand_type(0))) {
      continue;
    }
    return check.Fail(kBadRegion,
                      "argument {} of the select region must be a scalar of the operand's element, not `{}`", i,
                      check.text(type));
  }
  const auto returned = check.returned_types(block);
  if (!returned) return true;
  if (returned->size() != 1) {
    return check.Fail(kBadRegion, "the select region must return one value, but returns {}", returned->size());
  }
  const Type& type = TypeAt(check, (*returned)[0]);
  if (type.is_tensor() && type.dims.empty() && check.facts()[(*returned)[0]].classes == kBool) return true;
  return check.Fail(kBadRegion, "the select region must return tensor<i1>, not `{}`", check.text((*returned)[0]));
}

}  // namespace

bool CheckReducer(Check& check, const Reducer& reducer) {
  const size_t count = reducer.inputs.size();
  if (check.argument_count(reducer.block) != 2 * count) {
    return check.Fail(kBadRegion, "the body must take {} arguments, but takes {}", 2 * count,
                      check.argument_count(reducer.block));
  }
  const auto returned = check.returned_types(reducer.block);
  if (!returned) return check.Fail(kBadRegion, "the body must end with a return");
  if (returned->size() != count) {
    return check.Fail(kBadRegion, "the body must return {} values, but returns {}", count, returned->size());
  }
  for (size_t i = 0; i < count; ++i) {
    if (!IsTensor(TypeAt(check, (*returned)[i]))) {
      return check.Fail(kBadRegion, "the body must return tensors, not `{}`", check.text((*returned)[i]));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!CheckAccumulator(check, reducer, i, (*returned)[i])) return false;
  }
  return true;
}

bool CheckReduce(Check& check) {
  Reducer reducer;
  const auto dims = check.Integers("dimensions");
  if (!dims || !SplitOperands(check, reducer) || !CheckInputShapes(check, reducer)) return false;
  if (check.operand_count() % 2 != 0) {
    // An odd operand belongs to no pair; a body for one pair more than there is says the same at its arguments.
    return check.Fail(kWrongCount, "{} operands are no pairs of input and initial value", check.operand_count());
  }
  const Type& input = TypeAt(check, reducer.inputs[0]);
  if (!input.is_tensor()) return true;
  if (!check.ExpectDimensions(*dims, static_cast<int64_t>(input.dims.size()), "dimensions")) return false;
  Dimensions shape;
  for (size_t i = 0; i < input.dims.size(); ++i) {
    if (std::find(dims->begin(), dims->end(), static_cast<int64_t>(i)) == dims->end()) shape.push_back(input.dims[i]);
  }
  reducer.allowed = shape;
  return CheckReducer(check, reducer) && CheckResults(check, reducer, shape);
}

bool CheckReduceWindow(Check& check) {
  Reducer reducer;
  const auto sizes = check.Integers("window_dimensions");
  if (!sizes || !SplitOperands(check, reducer) || !CheckInputShapes(check, reducer)) return false;
  if (check.operand_count() % 2 != 0) {
    return check.Fail(kWrongCount, "{} operands are no pairs of input and initial value", check.operand_count());
  }
  const Type& input = TypeAt(check, reducer.inputs[0]);
  if (!input.is_tensor()) return true;
  if (sizes->size() != input.dims.size()) {
    return check.Fail(kBadDimension, "`window_dimensions` has {} entries for inputs of rank {}", sizes->size(),
                      input.dims.size());
  }
  const auto window = ReadWindow(check, *sizes, kReductionWindow);
  if (!window) return false;
  Dimensions shape;
  for (size_t i = 0; i < window->size(); ++i) shape.push_back(WindowedSize(input.dims[i], (*window)[i]));
  reducer.allowed = *sizes;
  return CheckReducer(check, reducer) && CheckResults(check, reducer, shape);
}

bool CheckSelectAndScatter(Check& check) {
  if (!CheckSelectRegion(check)) return false;
  const Reducer reducer{
      .block = check.block(1), .inputs = {check.operand_type(0)}, .inits = {check.operand_type(2)}, .allowed = {}};
  if (!reducer.block.valid()) return check.Fail(kBadRegion, "the scatter region is empty");
  if (!CheckReducer(check, reducer)) return false;
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const Type& operand = check.operand(0);
  const auto sizes = check.OptionalIntegers("window_dimensions");
  if (!sizes) return false;
  if (sizes->size() != operand.dims.size()) {
    return check.Fail(kBadDimension, "`window_dimensions` has {} entries for an operand of rank {}", sizes->size(),
                      operand.dims.size());
  }
  const auto window = ReadWindow(check, *sizes, kReductionWindow);
  if (!window) return false;
  Dimensions shape;
  for (size_t i = 0; i < window->size(); ++i) shape.push_back(WindowedSize(operand.dims[i], (*window)[i]));
  const Type& source = check.operand(1);
  if (!std::equal(shape.begin(), shape.end(), source.dims.begin(), source.dims.end(), CompatibleSizes) ||
      !CompatibleElements(check.facts(), check.operand_type(0), check.operand_type(1))) {
    return check.Fail(kTypeMismatch, "the window implies a source of shape {} with the operand's elements, not `{}`",
                      ShapeList(shape), check.text(check.operand_type(1)));
  }
  const auto returned = check.returned_types(reducer.block);
  if (!CompatibleElements(check.facts(), (*returned)[0], check.result_type())) {
    return check.Fail(kTypeMismatch, "the scatter region returns `{}`, but the result type is `{}`",
                      check.text((*returned)[0]), check.text(check.result_type()));
  }
  return check.ExpectShape(operand.dims);
}

bool CheckMap(Check& check) {
  const BlockId block = check.block(0);
  const auto dims = check.Integers("dimensions");
  if (!dims || !block.valid()) return false;
  if (check.argument_count(block) != check.operand_count()) {
    return check.Fail(kBadRegion, "the computation takes {} arguments for {} operands", check.argument_count(block),
                      check.operand_count());
  }
  for (size_t i = 0; i < check.operand_count(); ++i) {
    const TypeId type = check.argument_type(block, i);
    if (!TypeAt(check, type).is_tensor() || !TypeAt(check, type).dims.empty() ||
        !CompatibleElements(check.facts(), type, check.operand_type(i))) {
      return check.Fail(kBadRegion, "argument {} of the computation is `{}`, not a scalar of operand `{}`", i,
                        check.text(type), check.text(check.operand_type(i)));
    }
  }
  const auto returned = check.returned_types(block);
  if (!returned || returned->size() != 1) {
    return check.Fail(kBadRegion, "the computation must return one value, but returns {}",
                      returned ? returned->size() : 0);
  }
  const Type& value = TypeAt(check, (*returned)[0]);
  if (!value.is_tensor() || !value.dims.empty()) {
    return check.Fail(kBadRegion, "the computation must return a scalar, not `{}`", check.text((*returned)[0]));
  }
  for (size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] != static_cast<int64_t>(i)) {
      return check.Fail(kBadDimension, "`dimensions` must be 0, 1, ... but is {}", ShapeList(*dims));
    }
  }
  if (check.operand_ranked(0) && dims->size() != check.operand(0).dims.size()) {
    return check.Fail(kBadDimension, "`dimensions` has {} entries for operands of rank {}", dims->size(),
                      check.operand(0).dims.size());
  }
  if (!CompatibleElements(check.facts(), (*returned)[0], check.result_type())) {
    return check.Fail(kTypeMismatch, "the computation returns `{}`, but the result type is `{}`",
                      check.text((*returned)[0]), check.text(check.result_type()));
  }
  return true;
}

bool CheckSort(Check& check) {
  if (!check.ExpectResults(check.operand_count())) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (check.operand_ranked(0) && check.operand_ranked(i) && !CompatibleShapes(check.operand(0), check.operand(i))) {
      return check.Fail(kTypeMismatch, "operands 0 and {} have different shapes: `{}` and `{}`", i,
                        check.text(check.operand_type(0)), check.text(check.operand_type(i)));
    }
    if (!check.ExpectSameType(i, i)) return false;
  }
  const auto dimension = check.OptionalInteger("dimension", -1);
  if (!dimension) return false;
  const int64_t rank = check.operand_rank(0);
  if (check.operand_ranked(0) && rank > 0 && (*dimension < -rank || *dimension >= rank)) {
    return check.Fail(kBadDimension, "`dimension` {} is not in [{}, {})", *dimension, -rank, rank);
  }
  const BlockId block = check.block(0);
  if (!block.valid()) return check.Fail(kBadRegion, "the comparator is empty");
  if (check.argument_count(block) != 2 * check.operand_count()) {
    return check.Fail(kBadRegion, "the comparator must take {} arguments, but takes {}", 2 * check.operand_count(),
                      check.argument_count(block));
  }
  for (size_t i = 0; i < check.argument_count(block); ++i) {
    const TypeId type = check.argument_type(block, i);
    const Type& argument = TypeAt(check, type);
    if (argument.is_tensor() && argument.dims.empty() &&
        CompatibleElements(check.facts(), type, check.operand_type(i / 2))) {
      continue;
    }
    return check.Fail(kBadRegion, "argument {} of the comparator is `{}`, not a scalar of operand `{}`", i,
                      check.text(type), check.text(check.operand_type(i / 2)));
  }
  const auto returned = check.returned_types(block);
  if (!returned || returned->size() != 1) {
    return check.Fail(kBadRegion, "the comparator must return one value, but returns {}",
                      returned ? returned->size() : 0);
  }
  const Type& value = TypeAt(check, (*returned)[0]);
  if (value.is_tensor() && value.dims.empty() && check.facts()[(*returned)[0]].classes == kBool) return true;
  return check.Fail(kBadRegion, "the comparator must return tensor<i1>, not `{}`", check.text((*returned)[0]));
}

}  // namespace hespas::ir::verify
